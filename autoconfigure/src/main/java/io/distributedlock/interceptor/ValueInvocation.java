package io.distributedlock.interceptor;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockCallback;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.LossRegistration;

/**
 * One call of a locked method. Its progress distinguishes the exceptions of its own lock
 * from those that the body threw.
 */
final class ValueInvocation implements LockCallback<@Nullable Object, Throwable> {

	private final LockedMethod method;

	private final MethodInvocation invocation;

	private boolean started;

	private boolean returned;

	private @Nullable Object result;

	ValueInvocation(LockedMethod method, MethodInvocation invocation) {
		this.method = method;
		this.invocation = invocation;
	}

	@Nullable Object run(LockOperations operations) throws Throwable {
		LockRequest request = this.method.request(this.invocation);
		try {
			return operations.execute(request, this);
		}
		catch (LockNotAcquiredException | LockProviderException ex) {
			if (this.started) {
				throw ex;
			}
			return this.method.react(this.invocation, ex);
		}
		catch (LockLostException ex) {
			if (!this.returned || !this.method.ignoresLoss()) {
				throw this.started ? LossExceptions.remember(ex, this.invocation) : ex;
			}
			return this.result;
		}
	}

	@Override
	public @Nullable Object doWithLock(LockLease lease) throws Throwable {
		this.started = true;
		this.result = this.method.requireFinished(this.method.interruptsWhenLost() ? proceedUntilLost(lease)
				: this.method.proceed(this.invocation, lease));
		this.returned = true;
		return this.result;
	}

	/** Proceeds, and interrupts the thread if the lock is lost meanwhile. */
	private @Nullable Object proceedUntilLost(LockLease lease) throws Throwable {
		BodyInterruption interruption = new BodyInterruption();
		Object returnedResult;
		// The lock may be that of an enclosing call, which goes on.
		try (LossRegistration registration = lease.onLost(interruption::interrupt)) {
			returnedResult = this.method.proceed(this.invocation, lease);
		}
		catch (Throwable ex) {
			throw (interruption.end() && !(ex instanceof Error)) ? lossAfter(lease, ex) : ex;
		}
		interruption.end();
		return returnedResult;
	}

	/** Returns the loss, with what the interrupted body has thrown as its cause. */
	private static Throwable lossAfter(LockLease lease, Throwable ex) {
		return (LossExceptions.of(lease) instanceof LockLostException loss)
				? new LockLostException(loss.error(), loss.key(), loss.reason(), ex) : ex;
	}

}
