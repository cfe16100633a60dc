package io.distributedlock.interceptor;

import org.aopalliance.intercept.MethodInvocation;

import org.springframework.aop.ProxyMethodInvocation;

import io.distributedlock.LockLostException;

/**
 * Memory of the calls whose lock was lost after their body had started. An interceptor
 * outside, such as one that retries, may proceed with the same call again; the body,
 * which may have taken effect, is not run a second time.
 */
final class LostCallMemory {

	private static final String LOSS = LostCallMemory.class.getName();

	private LostCallMemory() {
	}

	/**
	 * Fails a call whose lock was lost before.
	 * @param invocation the call, or a clone of it
	 * @throws LockLostException as the call did before
	 */
	static void requireNotLost(MethodInvocation invocation) {
		if (invocation instanceof ProxyMethodInvocation proxied
				&& proxied.getUserAttribute(LOSS) instanceof LockLostException loss) {
			throw loss;
		}
	}

	/** Remembers the loss; the clones of a call share its attributes. */
	static LockLostException remember(LockLostException loss, MethodInvocation invocation) {
		if (invocation instanceof ProxyMethodInvocation proxied) {
			proxied.setUserAttribute(LOSS, loss);
		}
		return loss;
	}

}
