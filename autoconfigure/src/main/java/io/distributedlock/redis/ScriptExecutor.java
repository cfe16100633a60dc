package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;

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
	ScriptReply execute(CallKind kind, Duration timeout, ScriptCall call) {
		return start(kind, timeout, call).await();
	}

	/** Starts a script, whose reply is to be awaited. Never throws. */
	Execution start(CallKind kind, Duration timeout, ScriptCall call) {
		return new Execution(kind, System.nanoTime() + timeout.toNanos(), call);
	}

	@Override
	public void close() {
		this.client.close();
	}

	/** A call that has begun. */
	final class Execution {

		private final CallKind kind;

		private final long deadlineNanos;

		private final ScriptCall call;

		private final long disconnects = ScriptExecutor.this.client.disconnects();

		private PendingResult<ScriptReply> pending;

		private Execution(CallKind kind, long deadlineNanos, ScriptCall call) {
			this.kind = kind;
			this.deadlineNanos = deadlineNanos;
			this.call = call;
			this.pending = send();
		}

		private PendingResult<ScriptReply> send() {
			try {
				return ScriptExecutor.this.client.start(this.call, this.kind, this.deadlineNanos);
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
					if (!isRepeatable(ex) || this.deadlineNanos - System.nanoTime() <= 2 * pauseNanos) {
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
			long endNanos = System.nanoTime() + nanos;
			while (endNanos - System.nanoTime() > 0) {
				if (Thread.currentThread().isInterrupted()) {
					throw this.kind.interruptible() ? RedisErrors.interrupted(ex)
							: RedisErrors.translate(ex, isResent());
				}
				LockSupport.parkNanos(this, endNanos - System.nanoTime());
			}
		}

	}

}
