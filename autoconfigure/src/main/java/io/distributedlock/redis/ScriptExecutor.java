package io.distributedlock.redis;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

/**
 * Executes scripts within a time-out: repeats a call while the server replies that it
 * cannot serve it yet, and translates errors.
 */
final class ScriptExecutor implements AutoCloseable {

	private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(80);

	private final ScriptClient client;

	ScriptExecutor(ScriptClient client) {
		this.client = client;
	}

	/**
	 * Runs a script and awaits its reply.
	 * @throws LockProviderException if there was no reply, or an error
	 */
	ScriptReply execute(CallKind kind, Deadline deadline, ScriptCall call) {
		return start(kind, deadline, call).await();
	}

	/** Starts a script, whose reply is to be awaited. Never throws. */
	Execution start(CallKind kind, Deadline deadline, ScriptCall call) {
		return new Execution(kind, deadline, call);
	}

	@Override
	public void close() {
		this.client.close();
	}

	/** A call that has begun. */
	final class Execution {

		private final CallKind kind;

		private final Deadline deadline;

		private final ScriptCall call;

		private final long disconnects = ScriptExecutor.this.client.disconnects();

		private PendingResult<ScriptReply> pending;

		private Execution(CallKind kind, Deadline deadline, ScriptCall call) {
			this.kind = kind;
			this.deadline = deadline;
			this.call = call;
			this.pending = send();
		}

		private PendingResult<ScriptReply> send() {
			try {
				return ScriptExecutor.this.client.start(this.call, this.kind, this.deadline);
			}
			catch (InterruptedException | TimeoutException | RuntimeException ex) {
				return () -> {
					throw ex;
				};
			}
		}

		/**
		 * Awaits the reply.
		 * @throws LockProviderException if there was no reply, or an error
		 */
		ScriptReply await() {
			long pauseNanos = FIRST_PAUSE_NANOS;
			while (true) {
				try {
					return this.pending.await().withResent(isResent());
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
					throw RedisErrors.interrupted(ex);
				}
				catch (TimeoutException ex) {
					throw RedisErrors.timedOut(ex);
				}
				catch (RuntimeException ex) {
					if (!isRepeatable(ex) || this.deadline.remainingNanos() <= 2 * pauseNanos) {
						throw RedisErrors.translate(ex, isResent());
					}
					pause(pauseNanos, ex);
					pauseNanos = Math.min(pauseNanos * 2, LONGEST_PAUSE_NANOS);
					this.pending = send();
				}
			}
		}

		/** A batch whose keys are on two nodes is not repeated but sent in parts. */
		private boolean isRepeatable(RuntimeException ex) {
			return RedisErrors.isTransient(ex) && !(this.kind == CallKind.RENEWAL && RedisErrors.isSlotMigrating(ex));
		}

		private boolean isResent() {
			return ScriptExecutor.this.client.disconnects() != this.disconnects;
		}

		private void pause(long nanos, RuntimeException ex) {
			Deadline end = Deadline.afterNanos(nanos);
			while (!end.isPast()) {
				if (Thread.currentThread().isInterrupted()) {
					throw this.kind.interruptible() ? RedisErrors.interrupted(ex)
							: RedisErrors.translate(ex, isResent());
				}
				LockSupport.parkNanos(this, end.remainingNanos());
			}
		}

	}

}
