package io.distributedlock.interceptor;

import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.util.function.SingletonSupplier;

import io.distributedlock.LockOperations;

/**
 * Runs locked methods by {@link LockOperations#execute}, as a program would that calls it
 * itself. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class LockInterceptor implements MethodInterceptor {

	private final LockedMethodRegistry methods;

	private final Supplier<LockOperations> operations;

	/**
	 * Creates an interceptor.
	 * @param methods which methods are locked
	 * @param operations gives the locks; asked with the first locked call and never
	 * again, so that proxies can be made before the store is there
	 */
	public LockInterceptor(LockedMethodRegistry methods, Supplier<LockOperations> operations) {
		this.methods = methods;
		this.operations = SingletonSupplier.of(operations);
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		LockedMethod method = (target != null)
				? this.methods.find(invocation.getMethod(), AopUtils.getTargetClass(target)) : null;
		if (method == null) {
			return invocation.proceed();
		}
		return new LockedCall(method, invocation).run(this.operations.get());
	}

}
