package io.distributedlock.interceptor;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockCallback;
import io.distributedlock.LockContext;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockOperations;

/**
 * One call of a locked method. Its progress distinguishes the exceptions of its own lock
 * from those that the body threw.
 */
final class LockedCall implements LockCallback<@Nullable Object, Throwable> {

	private final LockedMethod method;

	private final MethodInvocation invocation;

	private boolean started;

	private boolean returned;

	private @Nullable Object result;

	LockedCall(LockedMethod method, MethodInvocation invocation) {
		this.method = method;
		this.invocation = invocation;
	}

	@Nullable Object run(LockOperations operations) throws Throwable {
		try {
			return operations.execute(this.method.request(this.invocation), this);
		}
		catch (LockNotAcquiredException ex) {
			if (this.started || !this.method.skipsWhenBusy()) {
				throw ex;
			}
			return this.method.skippedResult();
		}
		catch (LockLostException ex) {
			if (!this.returned || !this.method.ignoresLoss()) {
				throw ex;
			}
			return this.result;
		}
	}

	@Override
	public @Nullable Object doWithLock(LockLease lease) throws Throwable {
		this.started = true;
		this.result = this.method
			.requireFinished(this.method.ignoresLoss() ? proceedThoughLost(lease) : this.invocation.proceed());
		this.returned = true;
		return this.result;
	}

	private @Nullable Object proceedThoughLost(LockLease lease) throws Throwable {
		try (LockContext.Scope scope = LockContext.open(lease)) {
			scope.ignoreLoss();
			return this.invocation.proceed();
		}
	}

}
