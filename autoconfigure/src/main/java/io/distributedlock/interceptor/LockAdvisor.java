package io.distributedlock.interceptor;

import java.io.Serializable;
import java.lang.reflect.Method;

import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.Ordered;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Advisor that applies the {@link LockInterceptor} to locked methods. Its order has to be
 * lower than that of the transaction's advisor, so that a lock outlasts the transaction
 * of its method.
 *
 * @since 0.1.0
 */
public final class LockAdvisor extends StaticMethodMatcherPointcutAdvisor {

	/** The default order: outside Spring's transactions and caches. */
	public static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 100;

	private static final long serialVersionUID = 1L;

	private final transient LockedMethodRegistry methods;

	/**
	 * Creates an advisor.
	 * @param interceptor the interceptor of locked methods
	 * @param methods the locked methods
	 * @param order the order among the advisors of a proxy; lower ones are further out
	 */
	public LockAdvisor(LockInterceptor interceptor, LockedMethodRegistry methods, int order) {
		this.methods = methods;
		setAdvice(interceptor);
		setClassFilter((type) -> methods.isLocked(type) || isReadable(type));
		setOrder(order);
	}

	/**
	 * Leaves out only classes that have no locked methods and whose methods Spring cannot
	 * read: a proxy may have a locked interface that the class of its target lacks.
	 */
	private static boolean isReadable(Class<?> type) {
		try {
			ReflectionUtils.getAllDeclaredMethods(ClassUtils.getUserClass(type));
			return true;
		}
		catch (IllegalStateException ex) {
			return !(ex.getCause() instanceof NoClassDefFoundError);
		}
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return this.methods.find(method, targetClass) != null;
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
