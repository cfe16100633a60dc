package io.distributedlock.autoconfigure;

import org.junit.jupiter.api.Test;

import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinitionHolder;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;

import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.NoLockProvider;
import io.distributedlock.provider.LockProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

/** Beans of a type, as a search of the factory itself finds them. */
class BeanTypesTests {

	private final DefaultListableBeanFactory beanFactory = spy(new DefaultListableBeanFactory());

	@Test
	void typeOfADefinitionIsDeterminedOnce() {
		define("one", LocalLockProvider.class);
		assertThat(BeanTypes.names(this.beanFactory, LockProvider.class)).containsExactly("one");
		assertThat(BeanTypes.names(this.beanFactory, NoLockProvider.class)).isEmpty();
		define("two", NoLockProvider.class);
		assertThat(BeanTypes.names(this.beanFactory, LockProvider.class)).containsExactly("one", "two");
		verify(this.beanFactory, times(1)).getType(eq("one"), eq(false));
	}

	@Test
	void replacedAndRemovedDefinitionsAreNoticed() {
		define("one", LocalLockProvider.class);
		define("two", LocalLockProvider.class);
		BeanTypes.names(this.beanFactory, LockProvider.class);
		define("one", String.class);
		this.beanFactory.removeBeanDefinition("two");
		assertThat(BeanTypes.names(this.beanFactory, LockProvider.class)).isEmpty();
	}

	@Test
	void objectsWithoutDefinitionsAndBeansOfParentsAreFound() {
		DefaultListableBeanFactory parent = new DefaultListableBeanFactory();
		parent.registerSingleton("above", new LocalLockProvider());
		parent.registerSingleton("hidden", new LocalLockProvider());
		this.beanFactory.setParentBeanFactory(parent);
		this.beanFactory.registerSingleton("here", new LocalLockProvider());
		define("hidden", String.class);
		assertThat(BeanTypes.names(this.beanFactory, LockProvider.class)).containsExactly("here", "above");
	}

	@Test
	void scopedProxyHasTheTypeOfItsTarget() {
		RootBeanDefinition target = new RootBeanDefinition(LocalLockProvider.class);
		target.setScope("refresh");
		BeanDefinitionHolder proxy = ScopedProxyUtils.createScopedProxy(new BeanDefinitionHolder(target, "scoped"),
				this.beanFactory, true);
		this.beanFactory.registerBeanDefinition("scoped", proxy.getBeanDefinition());
		assertThat(BeanTypes.names(this.beanFactory, LockProvider.class)).contains("scoped");
	}

	@Test
	void productOfAFactoryBeanIsFoundAndNothingIsCreated() {
		define("product", ProviderFactory.class);
		RootBeanDefinition ofFactory = new RootBeanDefinition();
		ofFactory.setFactoryBeanName("product");
		ofFactory.setFactoryMethodName("name");
		this.beanFactory.registerBeanDefinition("ofFactory", ofFactory);
		define("unloadable", LocalLockProvider.class).setBeanClassName("org.example.Missing");
		RootBeanDefinition template = define("abstract", LocalLockProvider.class);
		template.setAbstract(true);
		assertThat(BeanTypes.names(this.beanFactory, LockProvider.class)).containsExactly("product");
		assertThat(BeanTypes.names(this.beanFactory, String.class)).isEmpty();
		assertThat(this.beanFactory.containsSingleton("product")).isFalse();
	}

	private RootBeanDefinition define(String name, Class<?> type) {
		RootBeanDefinition definition = new RootBeanDefinition(type);
		this.beanFactory.registerBeanDefinition(name, definition);
		return definition;
	}

	static class ProviderFactory implements FactoryBean<LockProvider> {

		ProviderFactory() {
			throw new IllegalStateException("Nothing needs it");
		}

		@Override
		public LockProvider getObject() {
			return new LocalLockProvider();
		}

		@Override
		public Class<?> getObjectType() {
			return LockProvider.class;
		}

	}

}
