package io.distributedlock.redis;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CompletableStoreCall;

/**
 * An operation that runs a script: the call to the store that its caller has, and what
 * follows the reply, which may be another run. What follows must not block, since it may
 * run on an event loop of the client. It does not run once the call has ended.
 *
 * @param <T> the type of the call's result
 */
abstract class ScriptOperation<T> {

	private final CompletableStoreCall<T> call = new CompletableStoreCall<>();

	/** Whether the client was given a command. */
	private volatile boolean sent;

	/** The call, which {@link #onReply} or {@link #onFailure} completes. */
	final CompletableStoreCall<T> call() {
		return this.call;
	}

	/** Whether the caller does not wait for the result any more. */
	final boolean isAbandoned() {
		return this.call.isAbandoned();
	}

	/** Records that the command waits for a worker before it is sent. */
	final void recordQueued() {
		if (!this.sent) {
			this.call.recordSent(false);
		}
	}

	/**
	 * Records that the command is about to be sent. In this order, either the caller that
	 * abandons the call sees that it may have been sent, or it is not sent.
	 * @return whether to send it: {@code false} if the call was abandoned
	 */
	final boolean beginSend() {
		this.sent = true;
		this.call.recordSent(true);
		return !isAbandoned();
	}

	/** Ends a run with the reply of the server. */
	final void reply(ScriptReply reply) {
		if (hasEnded()) {
			return;
		}
		try {
			onReply(reply);
		}
		catch (RuntimeException ex) {
			failUnlessEnded(ex);
		}
	}

	/** Ends a run without a reply. */
	final void fail(LockProviderException failure) {
		if (hasEnded()) {
			return;
		}
		try {
			onFailure(failure);
		}
		catch (RuntimeException ex) {
			failUnlessEnded(ex);
		}
	}

	private boolean hasEnded() {
		return isAbandoned() || this.call.isDone();
	}

	private void failUnlessEnded(RuntimeException ex) {
		if (!this.call.fail(RedisErrors.translate(ex, true)) && !isAbandoned()) {
			throw ex;
		}
	}

	/**
	 * Handles the reply.
	 * @throws LockProviderException if the call fails in spite of it
	 */
	abstract void onReply(ScriptReply reply);

	/** Handles the failure of a run. */
	abstract void onFailure(LockProviderException failure);

}
