package io.distributedlock.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;

/**
 * Calls the server within a time-out: asks again while it says that it cannot yet, and
 * tells what it meant by an error.
 */
final class ScriptExecutor implements AutoCloseable {

	private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(5);

	private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(80);

	private final ScriptClient client;

	ScriptExecutor(ScriptClient client) {
		this.client = client;
	}

	/**
	 * Runs a script and waits for its answer.
	 * @throws LockProviderException if there was none
	 */
	Reply call(CallKind kind, Duration timeout, ScriptCall call) {
		return start(kind, timeout, call).await();
	}

	/** Starts a script, to be awaited. Never throws. */
	Running start(CallKind kind, Duration timeout, ScriptCall call) {
		return new Running(kind, System.nanoTime() + timeout.toNanos(), call);
	}

	@Override
	public void close() {
		this.client.close();
	}

	/**
	 * The server's answer.
	 *
	 * @param values what the script gave
	 * @param replicated whether as many replicas have it as are asked for
	 * @param resent whether the client may have sent the command more than once
	 */
	record Reply(List<?> values, boolean replicated, boolean resent) {

		long number(int index) {
			return (this.values.get(index) instanceof Long number) ? number : 0;
		}

		byte[] bytes(int index) {
			return (this.values.get(index) instanceof byte[] bytes) ? bytes : new byte[0];
		}

	}

	/** A call under way. */
	final class Running {

		private final CallKind kind;

		private final long deadline;

		private final ScriptCall call;

		private final long disconnects = ScriptExecutor.this.client.disconnects();

		private ScriptClient.Pending<ScriptClient.Answer> pending;

		private Running(CallKind kind, long deadline, ScriptCall call) {
			this.kind = kind;
			this.deadline = deadline;
			this.call = call;
			this.pending = send();
		}

		private ScriptClient.Pending<ScriptClient.Answer> send() {
			try {
				return ScriptExecutor.this.client.start(this.call, this.kind, this.deadline);
			}
			catch (InterruptedException | TimeoutException | RuntimeException ex) {
				return () -> {
					throw ex;
				};
			}
		}

		Reply await() {
			long pause = FIRST_PAUSE;
			while (true) {
				try {
					ScriptClient.Answer answer = this.pending.await();
					return new Reply(answer.values(), answer.replicated(), resent());
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
					throw RedisErrors.interrupted(ex);
				}
				catch (TimeoutException ex) {
					throw RedisErrors.timedOut(ex);
				}
				catch (RuntimeException ex) {
					if (!mayPass(ex) || this.deadline - System.nanoTime() <= 2 * pause) {
						throw RedisErrors.translate(ex, resent());
					}
					pause(pause, ex);
					pause = Math.min(pause * 2, LONGEST_PAUSE);
					this.pending = send();
				}
			}
		}

		/** A batch that is apart goes on in pieces instead. */
		private boolean mayPass(RuntimeException ex) {
			return RedisErrors.isPassing(ex) && !(this.kind == CallKind.RENEWAL && RedisErrors.isApart(ex));
		}

		private boolean resent() {
			return ScriptExecutor.this.client.disconnects() != this.disconnects;
		}

		private void pause(long nanos, RuntimeException ex) {
			long end = System.nanoTime() + nanos;
			while (end - System.nanoTime() > 0) {
				if (Thread.currentThread().isInterrupted()) {
					throw this.kind.interruptible() ? RedisErrors.interrupted(ex) : RedisErrors.translate(ex, resent());
				}
				LockSupport.parkNanos(this, end - System.nanoTime());
			}
		}

	}

}
