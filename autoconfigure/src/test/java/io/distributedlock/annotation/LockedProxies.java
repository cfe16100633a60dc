package io.distributedlock.annotation;

import java.util.Map;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

import io.distributedlock.LockOperations;
import io.distributedlock.interceptor.LockAdvisor;
import io.distributedlock.interceptor.LockInterceptor;
import io.distributedlock.interceptor.LockedMethods;

/** Makes proxies by hand, below any container. */
final class LockedProxies {

	private final StandardEnvironment environment = new StandardEnvironment();

	private final DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory();

	private final LockedMethods methods;

	private final LockAdvisor advisor;

	LockedProxies(LockOperations operations) {
		this.environment.getPropertySources()
			.addFirst(new MapPropertySource("test", Map.of("app.region", "eu", "app.lease", "45s")));
		this.methods = new LockedMethods(
				new AnnotationLockAttributeSource(this.environment::resolveRequiredPlaceholders), this.beanFactory);
		this.advisor = new LockAdvisor(new LockInterceptor(this.methods, () -> operations), this.methods,
				LockAdvisor.DEFAULT_ORDER);
	}

	LockedProxies bean(String name, Object bean) {
		this.beanFactory.registerSingleton(name, bean);
		return this;
	}

	void read(Class<?> type) {
		this.methods.isLocked(type);
	}

	@SuppressWarnings("unchecked")
	<T> T ofClass(T target) {
		ProxyFactory factory = new ProxyFactory(target);
		factory.setProxyTargetClass(true);
		factory.addAdvisor(this.advisor);
		return (T) factory.getProxy();
	}

	<T> T ofInterface(Class<T> type, T target) {
		ProxyFactory factory = new ProxyFactory();
		factory.setInterfaces(type);
		factory.setTarget(target);
		factory.addAdvisor(this.advisor);
		return type.cast(factory.getProxy());
	}

}
