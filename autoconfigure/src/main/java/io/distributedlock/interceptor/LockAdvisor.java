package io.distributedlock.interceptor;

import java.io.Serializable;

import org.aopalliance.aop.Advice;

import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AbstractPointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.Ordered;

/**
 * Advisor that applies the {@link LockInterceptor} to locked methods. Its order has to be
 * lower than that of the transaction's advisor, so that a lock outlasts the transaction
 * of its method.
 *
 * @since 0.1.0
 */
public final class LockAdvisor extends AbstractPointcutAdvisor {

	/** The default order: outside Spring's transactions and caches. */
	public static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 100;

	private static final long serialVersionUID = 1L;

	private final transient LockInterceptor interceptor;

	private final transient Pointcut pointcut;

	private final transient LockedMethodRegistry methods;

	/**
	 * Creates an advisor.
	 * @param interceptor the interceptor of locked methods
	 * @param methods the locked methods
	 * @param order the order among the advisors of a proxy; lower ones are further out
	 */
	public LockAdvisor(LockInterceptor interceptor, LockedMethodRegistry methods, int order) {
		this.interceptor = interceptor;
		this.pointcut = new LockPointcut(methods);
		this.methods = methods;
		setOrder(order);
	}

	@Override
	public Pointcut getPointcut() {
		return this.pointcut;
	}

	@Override
	public Advice getAdvice() {
		return this.interceptor;
	}

	/**
	 * Replaces the advisor of a serialized proxy, such as that of a session-scoped bean,
	 * by a reference: another process has an advisor of its own.
	 */
	private Object writeReplace() {
		return new Reference(this.methods.beanFactory());
	}

	/**
	 * The advisor of a context.
	 *
	 * @param beanFactory the bean factory, which Spring serializes as a reference too
	 */
	private record Reference(BeanFactory beanFactory) implements Serializable {

		private Object readResolve() {
			return this.beanFactory.getBean(LockAdvisor.class);
		}

	}

}
