package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.scheduling.config.TaskManagementConfigUtils;
import org.springframework.util.ClassUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * Verifier that every bean with locked methods has the {@link LockAdvisor}. Each bean is
 * checked when it is created, directly behind the auto-proxy creator; beans that were
 * created before the verifier are checked when all singletons are ready. Creates no bean
 * itself.
 *
 * @since 0.1.0
 */
public final class LockedBeanVerifier
		implements SmartInstantiationAwareBeanPostProcessor, SmartInitializingSingleton, Ordered {

	private final LockedMethodRegistry methods;

	private final ConfigurableListableBeanFactory beanFactory;

	private final LockOperationsLookup operations;

	private final ConcurrentMap<String, Object> early = new ConcurrentHashMap<>();

	private final Set<String> seen = ConcurrentHashMap.newKeySet();

	private volatile boolean started;

	/**
	 * Creates a verifier.
	 * @param methods the locked methods
	 * @param beanFactory the bean factory whose beans are checked
	 * @param operations the lookup that knows whether there is a provider
	 */
	public LockedBeanVerifier(LockedMethodRegistry methods, ConfigurableListableBeanFactory beanFactory,
			LockOperationsLookup operations) {
		this.methods = methods;
		this.beanFactory = beanFactory;
		this.operations = operations;
	}

	/** Returns the order directly behind the auto-proxy creator. */
	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE + 1;
	}

	@Override
	public Object postProcessBeforeInitialization(Object bean, String beanName) {
		checkClass(bean.getClass());
		checkCallbacks(bean.getClass(), beanName);
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
			if (!this.seen.contains(beanName)) {
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
		this.methods.requireProviders(this.operations);
		checkFailureHandlers();
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
		if (!(bean instanceof ScopedObject)) {
			LockedBeanCheck.check(bean, beanName, this.methods, this.started ? this.operations : null);
		}
	}

	private void checkClass(Class<?> type) {
		if (Modifier.isFinal(type.getModifiers()) && !type.isHidden() && !Proxy.isProxyClass(type)
				&& this.methods.isLocked(type)
				&& (classProxies() || ClassUtils.getAllInterfacesForClass(type).length == 0)) {
			throw new LockConfigurationException(LockError.NOT_PROXYABLE,
					"The class " + type.getName()
							+ " has locked methods but is final, so that no proxy can intercept them",
					"Remove 'final' (records are always final), or move the locked methods to another class");
		}
	}

	private void checkCallbacks(Class<?> type, String beanName) {
		if (this.beanFactory.containsBeanDefinition(beanName)) {
			InitAndDestroyMethods.check(this.beanFactory.getMergedBeanDefinition(beanName), type, this.methods);
		}
		if (this.beanFactory.containsBeanDefinition(TaskManagementConfigUtils.ASYNC_EXECUTION_ASPECT_BEAN_NAME)) {
			for (Method method : this.methods.methods(type)) {
				if (AsyncMethods.isAsync(method, type)) {
					throw AsyncMethods.insideLock(method, type);
				}
			}
		}
	}

	private boolean classProxies() {
		return this.beanFactory.getSingleton(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME) instanceof ProxyConfig creator
				&& creator.isProxyTargetClass();
	}

}
