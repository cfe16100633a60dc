package io.distributedlock.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.convert.ConversionException;
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
 * context of a hierarchy has its own, for its own beans.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
@Import(LockProxyRegistrar.class)
class LockProxyConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	static LockAttributeSource distributedLockAttributeSource(ConfigurableListableBeanFactory beanFactory) {
		return new AnnotationLockAttributeSource(beanFactory::resolveEmbeddedValue);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	static LockedMethodRegistry distributedLockedMethodRegistry(LockAttributeSource source,
			ConfigurableListableBeanFactory beanFactory, ObjectProvider<LockObserver> observers) {
		return new LockedMethodRegistry(source, beanFactory, new LockedCallRelay(beanFactory, observers));
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	static LockOperationsLookup distributedLockOperationsLookup(ConfigurableListableBeanFactory beanFactory) {
		return new ProviderLocks(beanFactory);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	static LockAdvisor distributedLockAdvisor(LockedMethodRegistry methods, LockOperationsLookup operations,
			Environment environment) {
		return new LockAdvisor(new LockInterceptor(methods, operations), methods, order(environment));
	}

	/** Reads the property without the bean that has them all, which is not there yet. */
	private static int order(Environment environment) {
		String property = "distributed-lock.aop.order";
		try {
			return environment.getProperty(property, Integer.class, LockAdvisor.DEFAULT_ORDER);
		}
		catch (ConversionException ex) {
			throw DistributedLockProperties.invalid("aop.order", "'" + environment.getProperty(property) + "'",
					"but must be a whole number", "Use a number below the order of transactions, or leave it unset");
		}
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	static LockedBeanVerifier distributedLockedBeanVerifier(LockedMethodRegistry methods,
			ConfigurableListableBeanFactory beanFactory, LockOperationsLookup operations) {
		return new LockedBeanVerifier(methods, beanFactory, operations);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	@ConditionalOnMissingBean(name = "distributedLockedMethodStart", search = SearchStrategy.CURRENT)
	static LockedMethodStart distributedLockedMethodStart(LockedMethodRegistry methods,
			ConfigurableListableBeanFactory beanFactory) {
		return new LockedMethodStart(methods, beanFactory);
	}

}
