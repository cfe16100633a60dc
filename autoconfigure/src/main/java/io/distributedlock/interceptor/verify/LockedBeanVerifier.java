package io.distributedlock.interceptor.verify;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.beans.factory.support.AbstractBeanFactory;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.KotlinDetector;
import org.springframework.core.Ordered;
import org.springframework.scheduling.config.TaskManagementConfigUtils;
import org.springframework.util.ClassUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockFailureHandler;
import io.distributedlock.interceptor.LockAdvisor;
import io.distributedlock.interceptor.LockOperationsLookup;
import io.distributedlock.interceptor.LockedMethodChecks;
import io.distributedlock.interceptor.LockedMethodRegistry;

/**
 * Verifier that every bean with locked methods has the {@link LockAdvisor}. Each bean is
 * checked when it is created, directly behind the auto-proxy creator, and also before
 * there is one: post-processors may need beans that early. Beans that were registered by
 * hand or created before the verifier are checked when all singletons are ready, and
 * those of a child context without a verifier when that context is refreshed. In a test
 * an object that was registered in place of a bean's definition, such as a mock, is not
 * checked. Creates no bean itself.
 *
 * @since 0.1.0
 */
public final class LockedBeanVerifier implements BeanFactoryPostProcessor, SmartInstantiationAwareBeanPostProcessor,
		SmartInitializingSingleton, ApplicationListener<ContextRefreshedEvent>, Ordered {

	/**
	 * A bean that Spring adds to the context of a test which puts objects in place of
	 * beans.
	 */
	private static final String BEAN_OVERRIDES = "org.springframework.test.context.bean.override.internalBeanOverridePostProcessor";

	private final LockedMethodRegistry methods;

	private final ConfigurableListableBeanFactory beanFactory;

	private final SelfInvocationWarning selfInvocations;

	private final @Nullable LockOperationsLookup operations;

	private final ConcurrentMap<String, Object> early = new ConcurrentHashMap<>();

	private final Set<String> seen = ConcurrentHashMap.newKeySet();

	/** The singletons that no test has put in place of a bean. */
	private volatile Set<String> registeredBefore = Set.of();

	private volatile boolean started;

	/**
	 * Creates a verifier.
	 * @param methods the locked methods
	 * @param beanFactory the bean factory whose beans are checked, and those of its child
	 * contexts
	 * @param operations the lookup that knows whether there is a provider, or
	 * {@code null} in a context without locks
	 */
	public LockedBeanVerifier(LockedMethodRegistry methods, ConfigurableListableBeanFactory beanFactory,
			@Nullable LockOperationsLookup operations) {
		this.methods = methods;
		this.beanFactory = beanFactory;
		this.selfInvocations = new SelfInvocationWarning(methods);
		this.operations = operations;
	}

	/** Returns the order directly behind the auto-proxy creator. */
	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE + 1;
	}

	/** Lets beans be checked from now on, before this verifier has its place. */
	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory present) {
		this.registeredBefore = Set.of(present.getSingletonNames());
		present.addBeanPostProcessor(new EarlyVerifier());
	}

	/** Checks before the container calls methods of the bean, such as its setters. */
	@Override
	public boolean postProcessAfterInstantiation(Object bean, String beanName) {
		checkClass(bean.getClass());
		checkCallbacks(bean.getClass(), beanName);
		return true;
	}

	/** Checks also beans that the container has only to initialize. */
	@Override
	public Object postProcessBeforeInitialization(Object bean, String beanName) {
		postProcessAfterInstantiation(bean, beanName);
		return bean;
	}

	@Override
	public Object getEarlyBeanReference(Object bean, String beanName) {
		Object raw = AopProxyUtils.getSingletonTarget(bean);
		this.early.put(beanName, (raw != null) ? raw : bean);
		check(bean, beanName);
		return bean;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (this.early.remove(beanName) != bean) {
			check(bean, beanName);
		}
		return bean;
	}

	@Override
	public void afterSingletonsInstantiated() {
		for (String beanName : this.beanFactory.getSingletonNames()) {
			if (!this.seen.contains(beanName) && !isInPlaceOfDefinition(beanName)) {
				Object bean = this.beanFactory.getSingleton(beanName);
				if (bean != null) {
					checkClass(bean.getClass());
					checkCallbacks(AopUtils.getTargetClass(bean), beanName);
					check(bean, beanName);
					checkProduct(bean, beanName);
				}
			}
		}
		this.started = true;
		this.seen.clear();
		if (this.operations != null) {
			LockOperationsLookup providers = this.operations;
			this.methods.forEach((method) -> method.requireProvider(providers));
		}
		checkFailureHandlers();
	}

	/**
	 * Returns whether a singleton has a definition that the container did not use, where
	 * a test may have put it there.
	 */
	private boolean isInPlaceOfDefinition(String beanName) {
		return this.beanFactory.containsBeanDefinition(beanName) && !this.registeredBefore.contains(beanName)
				&& this.beanFactory.containsBean(BEAN_OVERRIDES);
	}

	/**
	 * Checks a child context that has no verifier of its own.
	 * @throws LockConfigurationException if a locked bean of it would not be locked
	 */
	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		if (event.getApplicationContext() instanceof ConfigurableApplicationContext context && context.isActive()
				&& isNearest(this.beanFactory, context.getBeanFactory(), LockedBeanVerifier.class)) {
			new ChildContextCheck(this.methods, this.selfInvocations).check(context);
		}
	}

	/**
	 * Returns whether a context is the nearest one above another that has a bean.
	 * @param nearest the factory of the context, which has the bean
	 * @param child the factory of the other one, which is below it if that is true
	 * @param type the type of the bean
	 */
	public static boolean isNearest(BeanFactory nearest, ConfigurableListableBeanFactory child, Class<?> type) {
		BeanFactory context = child;
		while (context != nearest && context instanceof ConfigurableListableBeanFactory present
				&& present.getBeanNamesForType(type, true, false).length == 0) {
			context = present.getParentBeanFactory();
		}
		return context == nearest && context != child;
	}

	/** The start of a child fails in the thread that starts it. */
	@Override
	public boolean supportsAsyncExecution() {
		return false;
	}

	/** Looks the handler up early only where its choice may fail. */
	private void checkFailureHandlers() {
		if (this.beanFactory.getBeanNamesForType(LockFailureHandler.class, true, false).length > 1) {
			this.methods.failureHandler();
		}
	}

	/** Checks the product of an early factory, which may be older than this verifier. */
	private void checkProduct(Object bean, String beanName) {
		if (bean instanceof FactoryBean<?> factory && factory.isSingleton()) {
			Class<?> type = factory.getObjectType();
			if (type == null || this.methods.isLocked(type)) {
				check(this.beanFactory.getBean(beanName), beanName);
			}
		}
	}

	private void check(Object bean, String beanName) {
		if (!this.started) {
			this.seen.add(beanName);
		}
		if (bean instanceof ScopedObject) {
			// The proxy runs what it cannot intercept itself, and never makes its target.
			if (this.methods.isLocked(bean.getClass())) {
				this.selfInvocations.check(bean.getClass());
			}
		}
		else if (bean instanceof Advised || this.methods.isLocked(bean.getClass())) {
			checkProxies(bean, beanName);
			checkAsync(bean.getClass());
			checkAsync(AopProxyUtils.ultimateTargetClass(bean));
		}
	}

	private void checkProxies(Object bean, String beanName) {
		try {
			new LockedBeanCheck(bean, beanName, this.methods, this.started ? this.operations : null).check()
				.forEach(this.selfInvocations::check);
		}
		catch (LockConfigurationException ex) {
			throw (ex.error() == LockError.NOT_ADVISED && !hasLocks()) ? withoutLocks(bean, beanName) : ex;
		}
	}

	/** Checks that the task of no asynchronous method is woven into its class. */
	private void checkAsync(Class<?> type) {
		if (this.methods.isLocked(type) && this.beanFactory
			.containsBeanDefinition(TaskManagementConfigUtils.ASYNC_EXECUTION_ASPECT_BEAN_NAME)) {
			for (Method method : this.methods.methods(type)) {
				if (LockedMethodChecks.isAsync(method, type)) {
					throw LockedMethodChecks.asyncInsideLock(method, ClassUtils.getUserClass(type));
				}
			}
		}
	}

	/** Returns whether this context has the lock's advisor. */
	private boolean hasLocks() {
		return this.beanFactory.getBeanNamesForType(LockAdvisor.class, true, false).length > 0;
	}

	private static LockConfigurationException withoutLocks(Object bean, String beanName) {
		return new LockConfigurationException(LockError.CONTEXT_WITHOUT_LOCKS,
				"The bean '" + beanName + "' (" + AopUtils.getTargetClass(bean).getName()
						+ ") has locked methods, but its context has no locks, so that they would run without them",
				"Do not exclude the auto-configuration of locks. In a slice of a test replace the bean by a mock, or add"
						+ " @ImportAutoConfiguration(DistributedLockAutoConfiguration.class) and the property"
						+ " distributed-lock.provider=local or none");
	}

	private void checkClass(Class<?> type) {
		if (this.methods.isLocked(type) && Modifier.isFinal(type.getModifiers()) && !type.isHidden()
				&& !Proxy.isProxyClass(type)
				&& (classProxies() || ClassUtils.getAllInterfacesForClass(type).length == 0)) {
			throw new LockConfigurationException(LockError.NOT_PROXYABLE,
					"The class " + type.getName()
							+ " has locked methods but is final, so that no proxy can intercept them",
					KotlinDetector.isKotlinType(type) ? LockedMethodChecks.KOTLIN_REMEDY
							: "Remove 'final' (records are always final), or move the locked methods to another class");
		}
	}

	private void checkCallbacks(Class<?> type, String beanName) {
		if (this.methods.isLocked(type) && this.beanFactory.containsBeanDefinition(beanName)) {
			DefinedCallbacks.check(this.beanFactory.getMergedBeanDefinition(beanName), type, this.methods);
		}
	}

	private boolean classProxies() {
		return this.beanFactory.getSingleton(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME) instanceof ProxyConfig creator
				&& creator.isProxyTargetClass();
	}

	/**
	 * Verifier of the beans that are created before the verifier has its place behind the
	 * auto-proxy creator. The verifier itself cannot be added early and moved later: the
	 * container would miss one post-processor, and warn of each bean.
	 */
	private final class EarlyVerifier implements BeanPostProcessor {

		private volatile boolean replaced;

		@Override
		public Object postProcessBeforeInitialization(Object bean, String beanName) {
			return isReplaced() ? bean : LockedBeanVerifier.this.postProcessBeforeInitialization(bean, beanName);
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return isReplaced() ? bean : LockedBeanVerifier.this.postProcessAfterInitialization(bean, beanName);
		}

		private boolean isReplaced() {
			if (!this.replaced) {
				this.replaced = !(LockedBeanVerifier.this.beanFactory instanceof AbstractBeanFactory present)
						|| present.getBeanPostProcessors().contains(LockedBeanVerifier.this);
			}
			return this.replaced;
		}

	}

}
