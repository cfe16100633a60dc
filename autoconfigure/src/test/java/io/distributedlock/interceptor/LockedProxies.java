package io.distributedlock.interceptor;

import java.util.Map;
import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInterceptor;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockOperations;
import io.distributedlock.annotation.AnnotationLockAttributeSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Factory of locked proxies without a container. */
public final class LockedProxies {

	private final StandardEnvironment environment = new StandardEnvironment();

	private final DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory();

	private final LockedMethodRegistry methods;

	private final LockAdvisor advisor;

	public LockedProxies(LockOperations operations) {
		this.environment.getPropertySources()
			.addFirst(new MapPropertySource("test", Map.of("app.region", "eu", "app.lease", "45s")));
		this.methods = new LockedMethodRegistry(
				new AnnotationLockAttributeSource(this.environment::resolveRequiredPlaceholders), this.beanFactory);
		this.advisor = new LockAdvisor(new LockInterceptor(this.methods, (provider) -> operations), this.methods,
				LockAdvisor.DEFAULT_ORDER);
	}

	public LockedProxies bean(String name, Object bean) {
		this.beanFactory.registerSingleton(name, bean);
		return this;
	}

	public void read(Class<?> type) {
		this.methods.isLocked(type);
	}

	/**
	 * Asserts that reading a class fails with an error whose message names the method.
	 * @param type the class
	 * @param error the error
	 * @param method the method's name
	 * @param fact another part of the message
	 */
	public void assertRefused(Class<?> type, LockError error, String method, String fact) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> read(type))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(error))
			.withMessageStartingWith(error.id() + ": ")
			.withMessageContaining(type.getSimpleName() + "." + method)
			.withMessageContaining(fact)
			.satisfies((ex) -> assertThat(ex.action()).isNotBlank());
	}

	/** A proxy of the class of the target. */
	@SuppressWarnings("unchecked")
	public <T> T ofClass(T target, Advisor... outside) {
		ProxyFactory factory = new ProxyFactory(target);
		factory.setProxyTargetClass(true);
		factory.addAdvisors(outside);
		factory.addAdvisor(this.advisor);
		return (T) factory.getProxy();
	}

	public <T> T ofInterface(Class<T> type, T target) {
		return type.cast(ofInterfaces(target, type));
	}

	public Object ofInterfaces(Object target, Class<?>... types) {
		ProxyFactory factory = new ProxyFactory();
		factory.setInterfaces(types);
		factory.setTarget(target);
		factory.addAdvisor(this.advisor);
		return factory.getProxy();
	}

	/** A proxy whose target lacks the interface; the answer comes from an interceptor. */
	<T> T ofInterface(Class<T> type, Object target, Supplier<?> answer) {
		ProxyFactory factory = new ProxyFactory();
		factory.setInterfaces(type);
		factory.setTarget(target);
		factory.addAdvisor(this.advisor);
		factory.addAdvice((MethodInterceptor) (invocation) -> answer.get());
		return type.cast(factory.getProxy());
	}

	/** A proxy whose every call reaches the interceptor. */
	@SuppressWarnings("unchecked")
	<T> T withoutPointcut(T target) {
		ProxyFactory factory = new ProxyFactory(target);
		factory.setProxyTargetClass(true);
		factory.addAdvice(this.advisor.getAdvice());
		return (T) factory.getProxy();
	}

}
