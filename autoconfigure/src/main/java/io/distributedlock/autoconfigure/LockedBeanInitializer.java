package io.distributedlock.autoconfigure;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;

import io.distributedlock.annotation.AnnotationLockAttributeSource;
import io.distributedlock.interceptor.LockAdvisor;
import io.distributedlock.interceptor.LockedMethodRegistry;
import io.distributedlock.interceptor.verify.LockedBeanVerifier;

/**
 * Initializer that adds a {@link LockedBeanVerifier} to each context that has no locks,
 * and whose parents have none, such as a slice of a test: locked beans there would run
 * without their locks in silence.
 */
final class LockedBeanInitializer implements ApplicationContextInitializer<ConfigurableApplicationContext> {

	private static final String VERIFIER = "distributedLockedBeanVerifier";

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		context.addBeanFactoryPostProcessor(LockedBeanInitializer::addVerifier);
	}

	/** Adds the verifier once all other definitions are there. */
	private static void addVerifier(ConfigurableListableBeanFactory beanFactory) {
		if (!beanFactory.containsBeanDefinition(VERIFIER)
				&& beanFactory.getBeanNamesForType(LockedBeanVerifier.class, true, false).length == 0
				&& !hasLocksInParent(beanFactory) && beanFactory instanceof BeanDefinitionRegistry registry) {
			RootBeanDefinition definition = new RootBeanDefinition(LockedBeanInitializer.class);
			definition.setFactoryMethodName("verifier");
			definition.setAutowireMode(AbstractBeanDefinition.AUTOWIRE_CONSTRUCTOR);
			definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
			registry.registerBeanDefinition(VERIFIER, definition);
		}
	}

	/** A child may be proxied with the advisor of its parent. */
	private static boolean hasLocksInParent(ConfigurableListableBeanFactory beanFactory) {
		return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory, LockAdvisor.class, true,
				false).length > 0;
	}

	static LockedBeanVerifier verifier(ConfigurableListableBeanFactory beanFactory) {
		return new LockedBeanVerifier(new LockedMethodRegistry(
				new AnnotationLockAttributeSource(beanFactory::resolveEmbeddedValue), beanFactory), beanFactory, null);
	}

}
