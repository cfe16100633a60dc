package io.distributedlock.interceptor;

import org.aopalliance.intercept.MethodInvocation;

import org.springframework.aop.ProxyMethodInvocation;

import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;

/**
 * The losses of locks as exceptions, and memory of the calls that have thrown one after
 * their body had started. An interceptor outside, such as one that retries, may proceed
 * with the same call again; the body, which may have taken effect, is not run a second
 * time.
 */
final class LossExceptions {

	private static final String ATTRIBUTE = LossExceptions.class.getName();

	private LossExceptions() {
	}

	/** Returns the loss of a lock that was lost. */
	static RuntimeException of(LockLease lease) {
		try {
			lease.ensureHeld();
			return new IllegalStateException("A lock that was lost is held: " + lease);
		}
		catch (LockLostException loss) {
			return loss;
		}
	}

	/**
	 * Fails a call whose lock was lost before.
	 * @param invocation the call, or a clone of it
	 * @throws LockLostException as the call did before
	 */
	static void requireNotLost(MethodInvocation invocation) {
		if (invocation instanceof ProxyMethodInvocation proxied
				&& proxied.getUserAttribute(ATTRIBUTE) instanceof LockLostException loss) {
			throw loss;
		}
	}

	/** Remembers the loss; the clones of a call share its attributes. */
	static LockLostException remember(LockLostException loss, MethodInvocation invocation) {
		if (invocation instanceof ProxyMethodInvocation proxied) {
			proxied.setUserAttribute(ATTRIBUTE, loss);
		}
		return loss;
	}

}
