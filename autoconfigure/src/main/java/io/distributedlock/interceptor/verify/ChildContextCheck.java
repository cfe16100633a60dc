package io.distributedlock.interceptor.verify;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.ProxyConfig;
import org.springframework.aop.framework.ProxyFactoryBean;
import org.springframework.aop.framework.autoproxy.AbstractAdvisorAutoProxyCreator;
import org.springframework.aop.framework.autoproxy.InfrastructureAdvisorAutoProxyCreator;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.CannotLoadBeanClassException;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ConfigurableApplicationContext;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.interceptor.LockAdvisor;
import io.distributedlock.interceptor.LockedMethodRegistry;

/**
 * Check of a child context that has no auto-configuration of locks, and so no verifier of
 * its own: a locked bean of such a context fails its start, because it would run without
 * its lock, or because its key would be evaluated with beans of the parent. Creates no
 * bean but the proxies of a {@link ProxyFactoryBean}.
 *
 * @param methods the locked methods, as the parent reads them
 * @param selfInvocations the warning of calls that do not pass the proxy
 */
record ChildContextCheck(LockedMethodRegistry methods, SelfInvocationWarning selfInvocations) {

	private static final String IMPORT = "Add @ImportAutoConfiguration(DistributedLockAutoConfiguration.class) to the child"
			+ " context";

	private static final String REMEDY = IMPORT + ", or define the bean in its parent";

	/**
	 * Checks a context.
	 * @param context a child context, at any depth, that was refreshed
	 * @throws LockConfigurationException if a locked bean of it would not be locked
	 */
	void check(ConfigurableApplicationContext context) {
		ConfigurableListableBeanFactory child = context.getBeanFactory();
		boolean advisor = hasAdvisor(child);
		boolean proxies = advisor && usesAdvisorsOfParents(child);
		Set<String> beanNames = new LinkedHashSet<>(List.of(child.getBeanDefinitionNames()));
		Collections.addAll(beanNames, child.getSingletonNames());
		beanNames.removeIf((name) -> child.containsBeanDefinition(name) && child.getBeanDefinition(name).isAbstract());
		for (String beanName : beanNames) {
			Object bean = child.containsSingleton(beanName) ? child.getSingleton(beanName) : null;
			if (bean != null && !(bean instanceof ProxyFactoryBean)) {
				check(bean, beanName, context);
			}
			Class<?> type = type(bean, beanName, child);
			if ((bean == null || bean instanceof FactoryBean<?>) && !proxies && isLocked(type)) {
				checkProduct(beanName, context);
			}
			if (advisor && type != null) {
				checkReferences(type, beanName, context);
			}
		}
	}

	/**
	 * Returns the type of a bean or of the product of a factory, or {@code null} if
	 * nothing tells it, or the class is missing.
	 */
	private static @Nullable Class<?> type(@Nullable Object bean, String beanName,
			ConfigurableListableBeanFactory child) {
		if (bean != null && !(bean instanceof FactoryBean<?>)) {
			return AopUtils.getTargetClass(bean);
		}
		try {
			return child.getType(beanName, false);
		}
		catch (CannotLoadBeanClassException ex) {
			return null;
		}
	}

	/**
	 * Checks a bean that is not there yet, or the product of a factory. Only factories of
	 * proxies may lock their product themselves.
	 */
	private void checkProduct(String beanName, ConfigurableApplicationContext context) {
		Object factory = context.getBeanFactory().getSingleton(beanName);
		if (factory instanceof ProxyFactoryBean proxy && proxy.isSingleton()) {
			check(context.getBeanFactory().getBean(beanName), beanName, context);
		}
		else if (!(factory instanceof ProxyConfig)) {
			throw unlocked(beanName, context, null);
		}
	}

	private static boolean hasAdvisor(ConfigurableListableBeanFactory child) {
		return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(child, LockAdvisor.class, true, false).length > 0;
	}

	/** Spring's own creator, without AspectJ, uses the advisors of its context alone. */
	private static boolean usesAdvisorsOfParents(ConfigurableListableBeanFactory child) {
		return child.getBeansOfType(AbstractAdvisorAutoProxyCreator.class, true, false)
			.values()
			.stream()
			.anyMatch((creator) -> !(creator instanceof InfrastructureAdvisorAutoProxyCreator));
	}

	private boolean isLocked(@Nullable Class<?> type) {
		return type != null && this.methods.isLocked(type);
	}

	private void check(Object bean, String beanName, ConfigurableApplicationContext context) {
		try {
			new LockedBeanCheck(bean, beanName, this.methods, null).check().forEach(this.selfInvocations::check);
		}
		catch (LockConfigurationException ex) {
			throw (ex.error() == LockError.NOT_ADVISED) ? unlocked(beanName, context, ex) : ex;
		}
	}

	/** The parent's advisor looks up the beans of keys and conditions in the parent. */
	private void checkReferences(Class<?> type, String beanName, ConfigurableApplicationContext context) {
		for (String reference : this.methods.beans(type)) {
			if (context.getBeanFactory().containsLocalBean(reference)) {
				throw new LockConfigurationException(LockError.BEAN_OF_CHILD_CONTEXT,
						"A key or condition of the locked bean '" + beanName + "' names the bean '" + reference
								+ "' of the child context '" + context.getDisplayName()
								+ "', but that context has no auto-configuration of locks, so that the name would mean a"
								+ " bean of its parent",
						REMEDY);
			}
		}
	}

	/** A bean of a parent without locks would not be locked either. */
	private static LockConfigurationException unlocked(String beanName, ConfigurableApplicationContext context,
			@Nullable Throwable cause) {
		return new LockConfigurationException(LockError.NOT_ADVISED, "The bean '" + beanName
				+ "' of the child context '" + context.getDisplayName()
				+ "' has locked methods, but that context has no auto-configuration of locks, so that they would run"
				+ " without their locks", hasAdvisor(context.getBeanFactory()) ? REMEDY : IMPORT, cause);
	}

}
