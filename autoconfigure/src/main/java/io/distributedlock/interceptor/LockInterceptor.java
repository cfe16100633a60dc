package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockOperations;

/**
 * Interceptor that runs locked methods through {@link LockOperations#execute}. A call
 * whose method has no lock attribute fails: it never runs unlocked. Safe for use by many
 * threads.
 *
 * @since 0.1.0
 */
public final class LockInterceptor implements MethodInterceptor {

	private final LockedMethodRegistry methods;

	private final Supplier<LockOperations> operations;

	/**
	 * Creates an interceptor.
	 * @param methods the locked methods
	 * @param operations the supplier of the locks, called once, with the first locked
	 * call, so that proxies can be created before the store is connected
	 */
	public LockInterceptor(LockedMethodRegistry methods, Supplier<LockOperations> operations) {
		this.methods = methods;
		this.operations = SingletonSupplier.of(operations);
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		LockedMethod method = this.methods.findCalled(invocation.getMethod(), invocation.getThis());
		if (method == null) {
			throw withoutAttribute(invocation);
		}
		return switch (method.kind()) {
			case VALUE -> new LockedCall(method, invocation).run(this.operations.get());
			case STAGE -> new StageCall(method, invocation).run(this.operations.get());
			case MONO, FLUX -> new ReactiveCall(method, invocation, this.operations).run();
		};
	}

	private static LockConfigurationException withoutAttribute(MethodInvocation invocation) {
		Method method = invocation.getMethod();
		return new LockConfigurationException(LockError.CALL_WITHOUT_ATTRIBUTE,
				"A call of " + MethodNames.describe(method, method.getDeclaringClass())
						+ " reached the lock's interceptor, but the method has no lock attribute, so that it would run"
						+ " without a lock",
				"Add the LockAdvisor to the proxy, not the LockInterceptor alone: the advisor chooses the methods");
	}

}
