package io.distributedlock.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

import io.distributedlock.engine.LockTemplate;
import io.distributedlock.provider.LockProvider;

/**
 * Registrar of the locks of each provider beside the primary one, as beans that only
 * their qualifier finds. The locks of the primary one get their qualifier too, where the
 * provider is known before any of them is created.
 */
final class LockEngineRegistrar implements ImportBeanDefinitionRegistrar {

	private final ConfigurableListableBeanFactory beanFactory;

	private final NamedProvider named;

	LockEngineRegistrar(BeanFactory beanFactory, Environment environment) {
		this.beanFactory = (ConfigurableListableBeanFactory) beanFactory;
		this.named = NamedProvider.of(environment);
	}

	@Override
	public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
		List<String> others = new ArrayList<>(BeanTypes.names(this.beanFactory, LockProvider.class));
		others.removeIf((provider) -> !this.beanFactory.containsLocalBean(provider));
		String primary = primaryOf(others);
		if (primary != null) {
			others.remove(primary);
			AbstractBeanDefinition template = (AbstractBeanDefinition) registry.getBeanDefinition(LockBeans.TEMPLATE);
			template.addQualifier(qualifier(primary));
		}
		for (String provider : others) {
			register(provider, registry);
		}
	}

	private @Nullable String primaryOf(List<String> providers) {
		String name = this.named.name();
		List<String> candidates = providers.stream()
			.filter((provider) -> (name != null) ? isNamed(provider, name)
					: LockBeans.isDefaultCandidate(provider, this.beanFactory))
			.toList();
		if (candidates.size() > 1) {
			candidates = candidates.stream()
				.filter((provider) -> this.beanFactory.containsBeanDefinition(provider)
						&& this.beanFactory.getBeanDefinition(provider).isPrimary())
				.toList();
		}
		return (candidates.size() == 1) ? candidates.get(0) : null;
	}

	private static boolean isNamed(String provider, String name) {
		return provider.equals(name) || LockBeans.qualifier(provider).equalsIgnoreCase(name);
	}

	private static void register(String provider, BeanDefinitionRegistry registry) {
		RootBeanDefinition definition = new RootBeanDefinition();
		definition.setTargetType(LockTemplate.class);
		definition.setFactoryBeanName(LockEngines.BEAN_NAME);
		definition.setFactoryMethodName("of");
		definition.getConstructorArgumentValues().addGenericArgumentValue(provider);
		definition.setDefaultCandidate(false);
		definition.setFallback(true);
		definition.setLazyInit(true);
		definition.setDestroyMethodName("");
		definition.addQualifier(qualifier(provider));
		registry.registerBeanDefinition(LockBeans.template(provider), definition);
	}

	private static AutowireCandidateQualifier qualifier(String provider) {
		return new AutowireCandidateQualifier(Qualifier.class, LockBeans.qualifier(provider));
	}

}
