package io.distributedlock.redis.script;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.Deadline;

/**
 * An operation that runs a script: the call to the store that its caller has, and what
 * follows the reply, which may be another run. What follows must not block, since it may
 * run on an event loop of the client. It does not run once the call has ended, and what
 * it throws ends the call.
 *
 * @param <T> the type of the call's result
 */
public abstract class ReplyHandler<T> {

	private static final Log logger = LogFactory.getLog(ReplyHandler.class);

	private final CompletableStoreCall<T> call = new CompletableStoreCall<>();

	/** Whether the client was given a command. */
	private volatile boolean sent;

	/**
	 * Whether a thread is about to give the client a command, or to see that the call was
	 * abandoned. Who abandons the call, and then finds this false, sends after it.
	 */
	private volatile boolean beingSent;

	/** The call, which {@link #onReply} or {@link #onFailure} completes. */
	public final CompletableStoreCall<T> call() {
		return this.call;
	}

	public final boolean isBeingSent() {
		return this.beingSent;
	}

	public final void recordBeingSent(boolean beingSent) {
		this.beingSent = beingSent;
	}

	/** Whether the caller does not wait for the result any more. */
	public final boolean isAbandoned() {
		return this.call.isAbandoned();
	}

	/** Whether the client was given a command, by this run or an earlier one. */
	public final boolean isSent() {
		return this.sent;
	}

	/** Records that the command waits for a worker before it is sent. */
	public final void recordQueued() {
		if (!this.sent) {
			this.call.recordSent(false);
		}
	}

	/**
	 * Records that the command is about to be sent. In this order, either the caller that
	 * abandons the call sees that it may have been sent, or it is not sent.
	 * @return whether to send it: {@code false} if the call was abandoned
	 */
	public final boolean beginSend() {
		boolean sentBefore = this.sent;
		this.sent = true;
		this.call.recordSent(true);
		if (isAbandoned()) {
			this.sent = sentBefore;
			this.call.recordSent(sentBefore);
			return false;
		}
		return true;
	}

	/**
	 * Records that the command is about to be sent, after a wait for a connection.
	 * @param deadline the end of the call
	 * @throws LockProviderException if the call was abandoned or its time is over; the
	 * command is not sent then
	 */
	public final void beginSend(Deadline deadline) {
		if (deadline.isPast() || !beginSend()) {
			throw RedisErrors.notCalledInTime();
		}
	}

	/** Ends a run with the reply of the server. */
	public final void reply(ScriptReply reply) {
		if (hasEnded()) {
			return;
		}
		try {
			onReply(reply);
		}
		catch (RuntimeException | Error ex) {
			end(ex);
		}
	}

	/** Ends a run without a reply. */
	public final void fail(LockProviderException failure) {
		if (hasEnded()) {
			return;
		}
		try {
			onFailure(failure);
		}
		catch (RuntimeException | Error ex) {
			end(ex);
		}
	}

	private boolean hasEnded() {
		return isAbandoned() || this.call.isDone();
	}

	/**
	 * Ends the call with what was thrown. It is logged if the caller does not receive it:
	 * on an event loop nobody would catch it.
	 */
	private void end(Throwable ex) {
		boolean received = false;
		try {
			received = this.call.fail(failure(ex)) || isAbandoned();
		}
		catch (RuntimeException | Error following) {
			logger.error("What follows a failed call to Redis has failed", following);
		}
		if (!received || ex instanceof Error) {
			logger.error("What follows a reply of Redis has failed", ex);
		}
	}

	private static LockProviderException failure(Throwable ex) {
		if (ex instanceof LockProviderException failure) {
			return failure;
		}
		return RedisErrors.translate((ex instanceof RuntimeException known) ? known : new IllegalStateException(ex),
				true);
	}

	/**
	 * Handles the reply.
	 * @throws LockProviderException if the call fails in spite of it
	 */
	public abstract void onReply(ScriptReply reply);

	/** Handles the failure of a run. */
	public abstract void onFailure(LockProviderException failure);

}
