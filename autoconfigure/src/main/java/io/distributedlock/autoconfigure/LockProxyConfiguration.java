package io.distributedlock.autoconfigure;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

import io.distributedlock.annotation.AnnotationLockAttributeSource;
import io.distributedlock.interceptor.LockAdvisor;
import io.distributedlock.interceptor.LockAttributeSource;
import io.distributedlock.interceptor.LockInterceptor;
import io.distributedlock.interceptor.LockOperationsLookup;
import io.distributedlock.interceptor.LockedMethodRegistry;
import io.distributedlock.interceptor.verify.LockedBeanVerifier;
import io.distributedlock.provider.LockObserver;

/**
 * Proxies for annotated methods. These beans are created before ordinary beans, and so
 * must not need any: the first locked call looks up the {@code LockOperations}. Each
 * context of a hierarchy has its own, for its own beans. Parameters have the names of the
 * beans, and the factory is given to the configuration, which spares searches through all
 * definitions.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
@Import(LockProxyRegistrar.class)
class LockProxyConfiguration implements BeanFactoryAware {

	private static final String ATTRIBUTE_SOURCE = "distributedLockAttributeSource";

	@SuppressWarnings("NullAway.Init")
	private ConfigurableListableBeanFactory beanFactory;

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		this.beanFactory = (ConfigurableListableBeanFactory) beanFactory;
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	LockAttributeSource distributedLockAttributeSource() {
		return new AnnotationLockAttributeSource(this.beanFactory::resolveEmbeddedValue);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	LockedMethodRegistry distributedLockedMethodRegistry(ObjectProvider<LockObserver> observers) {
		// The source of this context, not also that of its parent.
		LockAttributeSource source = this.beanFactory.containsLocalBean(ATTRIBUTE_SOURCE)
				? this.beanFactory.getBean(ATTRIBUTE_SOURCE, LockAttributeSource.class)
				: this.beanFactory.getBean(LockAttributeSource.class);
		return new LockedMethodRegistry(source, this.beanFactory, new LockedCallRelay(this.beanFactory, observers));
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	LockOperationsLookup distributedLockOperationsLookup() {
		return new BeanLockOperationsLookup(this.beanFactory);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	LockAdvisor distributedLockAdvisor(LockedMethodRegistry distributedLockedMethodRegistry,
			LockOperationsLookup distributedLockOperationsLookup, Environment environment) {
		return new LockAdvisor(new LockInterceptor(distributedLockedMethodRegistry, distributedLockOperationsLookup),
				distributedLockedMethodRegistry, order(environment));
	}

	/** Binds the property without the bean that has them all, which is not there yet. */
	private static int order(Environment environment) {
		try {
			BindResult<Integer> order = Binder.get(environment).bind("distributed-lock.aop.order", Integer.class);
			return order.isBound() ? order.get() : LockAdvisor.DEFAULT_ORDER;
		}
		catch (BindException ex) {
			ConfigurationProperty found = ex.getProperty();
			throw DistributedLockProperties.invalid("aop.order",
					"'" + ((found != null) ? found.getValue() : null) + "'", "but must be a whole number",
					"Use a number below the order of transactions, or leave it unset");
		}
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	LockedBeanVerifier distributedLockedBeanVerifier(LockedMethodRegistry distributedLockedMethodRegistry,
			LockOperationsLookup distributedLockOperationsLookup) {
		return new LockedBeanVerifier(distributedLockedMethodRegistry, this.beanFactory,
				distributedLockOperationsLookup);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	MethodLimitsCheck distributedLockMethodLimitsCheck(LockedMethodRegistry distributedLockedMethodRegistry) {
		return new MethodLimitsCheck(distributedLockedMethodRegistry, this.beanFactory);
	}

}
