package io.distributedlock.interceptor;

import java.lang.reflect.Method;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockOperations;
import io.distributedlock.interceptor.expression.MethodNames;

/**
 * Interceptor that runs locked methods through {@link LockOperations#execute}. A call
 * whose method has no lock attribute fails: it never runs unlocked. Safe for use by many
 * threads.
 *
 * @since 0.1.0
 */
public final class LockInterceptor implements MethodInterceptor {

	private static final Log logger = LogFactory.getLog(LockInterceptor.class);

	private final LockedMethodRegistry methods;

	private final LockOperationsLookup operations;

	/**
	 * Creates an interceptor.
	 * @param methods the locked methods
	 * @param operations the lookup of the locks of a provider, called for each locked
	 * call, so that proxies can be created before the store is connected
	 */
	public LockInterceptor(LockedMethodRegistry methods, LockOperationsLookup operations) {
		this.methods = methods;
		this.operations = operations;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		LockedMethod method = this.methods.findCalled(invocation.getMethod(), invocation.getThis());
		if (method == null) {
			throw withoutAttribute(invocation);
		}
		LossExceptions.requireNotLost(invocation);
		if (method.condition() != null && !method.condition().isTrue(invocation)) {
			return proceedWithoutLock(method, method.condition(), invocation);
		}
		return switch (method.kind()) {
			case VALUE -> new ValueInvocation(method, invocation).run(locks(method));
			case STAGE -> new StageInvocation(method, invocation).run(locks(method));
			case MONO, FLUX -> new PublisherInvocation(method, invocation, () -> locks(method)).run();
		};
	}

	private LockOperations locks(LockedMethod method) {
		return this.operations.find(method.attribute().provider());
	}

	private @Nullable Object proceedWithoutLock(LockedMethod method, LockCondition condition,
			MethodInvocation invocation) throws Throwable {
		LockAttribute attribute = method.attribute();
		if (logger.isDebugEnabled()) {
			logger.debug("The condition '" + condition.text() + "' of locked method " + method.described()
					+ " is false: the call runs without the lock '" + attribute.name() + "'");
		}
		this.methods.observer().onUnlockedCall(attribute.name(), attribute.provider());
		return invocation.proceed();
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
