package io.distributedlock.zookeeper.session;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockException;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;

/**
 * Deadline of one call of a provider. Whoever made the call abandons it then: what the
 * call waits for fails at once, on the thread that abandons it, and a connection on which
 * nothing was answered is reported to the session.
 * <p>
 * The steps of a call follow each other: each continues the answer, or the end of the
 * call, that came first. So a step is never run by two threads, and after the end of the
 * call no step waits any more.
 */
public final class CallDeadline implements Runnable {

	private static final Log logger = LogFactory.getLog(CallDeadline.class);

	private static final long LONGEST_MARGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	private final CompletableStoreCall<?> call;

	private final LockTimer timer;

	private final boolean renewal;

	private final Deadline deadline;

	/** A call may be abandoned a little earlier: the clock of its caller began before. */
	private final long toleranceNanos;

	private volatile @Nullable Session session;

	private volatile long begunAtNanos;

	private volatile @Nullable Awaited<?> awaited;

	/**
	 * Creates the deadline of an attempt, a release or a withdrawal. It is the action
	 * that follows the abandonment of the call.
	 */
	public CallDeadline(CompletableStoreCall<?> call, Duration timeout, LockTimer timer) {
		this(call, timeout, timer, false);
	}

	private CallDeadline(CompletableStoreCall<?> call, Duration timeout, LockTimer timer, boolean renewal) {
		this.call = call;
		this.timer = timer;
		this.renewal = renewal;
		this.deadline = Deadline.after(timeout);
		this.toleranceNanos = Math.max(0, this.deadline.remainingNanos() / 10);
		call.onAbandon(this);
	}

	/**
	 * Creates the deadline of a renewal, after which a silent connection is dropped
	 * sooner, because leases depend on it.
	 */
	public static CallDeadline ofRenewal(CompletableStoreCall<?> call, Duration timeout, LockTimer timer) {
		return new CallDeadline(call, timeout, timer, true);
	}

	/** Records the session in which all requests of the call are sent from now on. */
	public void begin(Session used) {
		this.begunAtNanos = System.nanoTime();
		this.session = used;
	}

	/**
	 * Records that a command is about to be sent that can acquire a lock.
	 * @return {@code false} if the call was abandoned: the command must not be sent
	 */
	public boolean maySend() {
		// Recorded first: who abandons the call looks at the record afterwards.
		this.call.recordSent(true);
		return !this.call.isAbandoned();
	}

	public boolean isAbandoned() {
		return this.call.isAbandoned();
	}

	/**
	 * Returns a future with the {@linkplain #newAbandonment() failure} of such a step.
	 */
	public <T> CompletableFuture<T> abandoned() {
		return CompletableFuture.failedFuture(newAbandonment());
	}

	/** Creates the failure of a step that an abandoned call does not do any more. */
	public static CancellationException newAbandonment() {
		return new CancellationException("The call was abandoned");
	}

	/** Ends the wait of a call that was abandoned, by time-out or before. */
	@Override
	public void run() {
		Awaited<?> present = this.awaited;
		if (present != null) {
			present.end(null, newAbandonment());
		}
		if (this.deadline.remainingNanos() <= this.toleranceNanos) {
			reportTimeout();
		}
	}

	private void reportTimeout() {
		Session used = this.session;
		if (used != null && this.renewal) {
			used.silence().renewalTimedOut(this.begunAtNanos);
		}
		else if (used != null) {
			used.callTimedOut(this.begunAtNanos);
		}
	}

	/**
	 * Continues with an answer, or with a failure once the call is abandoned.
	 * @param next the next step, run once; must not block nor throw
	 */
	public <T> void await(CompletableFuture<T> answer, Continuation<T> next) {
		begin(answer, new Awaited<>(next));
	}

	private <T> void begin(CompletableFuture<T> answer, Awaited<T> last) {
		this.awaited = last;
		answer.whenComplete(last);
		if (this.call.isAbandoned()) {
			last.end(null, newAbandonment());
		}
	}

	/**
	 * Bounds an answer by the end of the call.
	 * @return completes with the answer, or fails once the call is abandoned
	 */
	public <T> CompletableFuture<T> await(CompletableFuture<T> answer) {
		if (answer.isDone()) {
			return answer;
		}
		CompletableFuture<T> end = new CompletableFuture<>();
		await(answer, to(end));
		return end;
	}

	/** Returns the step that completes a future. */
	public static <T> Continuation<T> to(CompletableFuture<T> end) {
		return (value, failure) -> {
			if (value != null) {
				end.complete(value);
			}
			else {
				end.completeExceptionally(Objects.requireNonNull(failure));
			}
		};
	}

	/**
	 * Bounds the read of a node that may be missing.
	 * @return completes with what was read, if the node exists
	 */
	public <T> CompletableFuture<Optional<T>> awaitExisting(CompletableFuture<T> answer) {
		return ZooKeeperOperations.existing(await(answer));
	}

	/**
	 * Bounds the wait for something that has to precede the next request. It ends a
	 * little before the call is abandoned, so that the caller learns what is missing.
	 * @param missing creates the failure at the end of the wait
	 */
	public <T> CompletableFuture<T> awaitBefore(CompletableFuture<T> condition,
			Supplier<? extends LockException> missing) {
		return awaitUntilAlarm(condition, (wait) -> wait.end(null, missing.get()));
	}

	/**
	 * Bounds an answer by a moment a little before the call is abandoned, so that the
	 * call can still end with what is known then.
	 * @param answer completes with {@code true}
	 * @return completes with whether the answer came before, or fails once the call is
	 * abandoned
	 */
	public CompletableFuture<Boolean> awaitInTime(CompletableFuture<Boolean> answer) {
		return awaitUntilAlarm(answer, (wait) -> {
			reportTimeout();
			wait.end(false, null);
		});
	}

	/**
	 * Bounds an answer as {@link #await(CompletableFuture)} does.
	 * @param late runs a little before the call is abandoned, to end the wait
	 */
	private <T> CompletableFuture<T> awaitUntilAlarm(CompletableFuture<T> answer, Consumer<Awaited<T>> late) {
		if (answer.isDone()) {
			return answer;
		}
		CompletableFuture<T> end = new CompletableFuture<>();
		Awaited<T> wait = new Awaited<>(to(end));
		begin(answer, wait);
		if (end.isDone()) {
			return end;
		}
		long margin = Math.min(this.toleranceNanos / 2, LONGEST_MARGIN_NANOS);
		Runnable cancellation = this.timer.scheduleIfOpen(() -> late.accept(wait),
				this.deadline.remainingNanos() - margin);
		end.whenComplete((value, failure) -> cancellation.run());
		return end;
	}

	/**
	 * The step after an answer.
	 *
	 * @param <T> the type of the answer
	 */
	@FunctionalInterface
	public interface Continuation<T> {

		/**
		 * Continues the call.
		 * @param value the answer, or {@code null} after a failure
		 * @param failure the failure, or {@code null} after an answer
		 */
		void accept(@Nullable T value, @Nullable Throwable failure);

	}

	/**
	 * One wait of a call, ended by the answer or by the abandonment of the call. It keeps
	 * the next step only until it ends, for the answer may come much later.
	 */
	@SuppressWarnings("serial") // never serialized
	private static final class Awaited<T> extends AtomicReference<@Nullable Continuation<T>>
			implements BiConsumer<T, Throwable> {

		private Awaited(Continuation<T> next) {
			super(next);
		}

		@Override
		public void accept(@Nullable T value, @Nullable Throwable failure) {
			end(value, failure);
		}

		private void end(@Nullable T value, @Nullable Throwable failure) {
			Continuation<T> step = getAndSet(null);
			if (step == null) {
				return;
			}
			try {
				step.accept(value, failure);
			}
			catch (RuntimeException | Error ex) {
				logger.error("A step of a call failed unexpectedly", ex);
			}
		}

	}

}
