package io.distributedlock.interceptor;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.autoproxy.AbstractAdvisorAutoProxyCreator;
import org.springframework.aop.framework.autoproxy.InfrastructureAdvisorAutoProxyCreator;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * Check of child contexts that have no auto-configuration of locks, and so no
 * {@link LockedBeanVerifier} of their own: a locked bean of such a context fails its
 * start, because it would run without its lock, or because its key would be evaluated
 * with beans of the parent. Creates no bean.
 *
 * @since 0.1.0
 */
public final class ChildContextCheck implements ApplicationListener<ContextRefreshedEvent> {

	private static final String REMEDY = "Add @ImportAutoConfiguration(DistributedLockAutoConfiguration.class) to the child"
			+ " context, or define the bean in its parent";

	private final LockedMethodRegistry methods;

	private final ConfigurableListableBeanFactory beanFactory;

	private final SelfInvocationWarning selfInvocations;

	/**
	 * Creates a check.
	 * @param methods the locked methods
	 * @param beanFactory the bean factory of the context whose children are checked
	 */
	public ChildContextCheck(LockedMethodRegistry methods, ConfigurableListableBeanFactory beanFactory) {
		this.methods = methods;
		this.beanFactory = beanFactory;
		this.selfInvocations = new SelfInvocationWarning(methods);
	}

	/** Receives the events of child contexts too. */
	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		if (event.getApplicationContext() instanceof ConfigurableApplicationContext context
				&& context.getBeanFactory() != this.beanFactory
				&& context.getBeanFactory().getBeanNamesForType(LockedBeanVerifier.class, true, false).length == 0) {
			check(context);
		}
	}

	private void check(ConfigurableApplicationContext context) {
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
