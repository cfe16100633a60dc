package io.distributedlock.interceptor;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.autoproxy.AbstractAdvisorAutoProxyCreator;
import org.springframework.aop.framework.autoproxy.InfrastructureAdvisorAutoProxyCreator;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * Check of a child context that has no auto-configuration of locks, and so no verifier of
 * its own: a locked bean of such a context fails its start, because it would run without
 * its lock, or because its key would be evaluated with beans of the parent. Creates no
 * bean.
 */
final class ChildContextCheck {

	private static final String REMEDY = "Add @ImportAutoConfiguration(DistributedLockAutoConfiguration.class) to the child"
			+ " context, or define the bean in its parent";

	private final LockedMethodRegistry methods;

	private final SelfInvocationWarning selfInvocations;

	/**
	 * Creates a check.
	 * @param methods the locked methods, as the parent reads them
	 * @param selfInvocations the warning of calls that do not pass the proxy
	 */
	ChildContextCheck(LockedMethodRegistry methods, SelfInvocationWarning selfInvocations) {
		this.methods = methods;
		this.selfInvocations = selfInvocations;
	}

	/**
	 * Checks a context.
	 * @param context a child context, at any depth, that was refreshed
	 * @throws LockConfigurationException if a locked bean of it would not be locked
	 */
	void check(ConfigurableApplicationContext context) {
		ConfigurableListableBeanFactory child = context.getBeanFactory();
		boolean proxies = usesAdvisorsOfParents(child);
		for (String beanName : child.getBeanDefinitionNames()) {
			Object bean = child.containsSingleton(beanName) ? child.getSingleton(beanName) : null;
			if (bean != null) {
				check(bean, beanName, context);
			}
			else if (!proxies && isLocked(child.getType(beanName, false))) {
				throw unlocked(beanName, context, null);
			}
			Class<?> type = (bean != null) ? AopUtils.getTargetClass(bean) : child.getType(beanName, false);
			if (type != null) {
				checkReferences(type, beanName, context);
			}
		}
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

	private void check(Object bean, String beanName, ApplicationContext context) {
		try {
			LockedBeanCheck.check(bean, beanName, this.methods, this.selfInvocations, null);
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

	private static LockConfigurationException unlocked(String beanName, ApplicationContext context,
			@Nullable Throwable cause) {
		return new LockConfigurationException(LockError.NOT_ADVISED, "The bean '" + beanName
				+ "' of the child context '" + context.getDisplayName()
				+ "' has locked methods, but that context has no auto-configuration of locks, so that they would run"
				+ " without their locks", REMEDY, cause);
	}

}
