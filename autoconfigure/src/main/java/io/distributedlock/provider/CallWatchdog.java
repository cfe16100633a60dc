package io.distributedlock.provider;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

/**
 * A watchdog that aborts blocking calls from outside: calls that are overdue, and calls
 * whose thread was interrupted while it blocks without noticing, as in a socket read. One
 * scan checks all calls in flight at least every 50 ms; a call costs no timer and no
 * thread.
 * <p>
 * The end of a call and its abortion compete for one state. Where the abortion wins,
 * {@link Call#end()} returns {@code false}, and the connection of the call must not be
 * used again. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class CallWatchdog {

	private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	/** How long the end of an aborted call waits for the abort action at most. */
	private static final long ABORT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private final LockTimer timer;

	private final Executor aborter;

	private final Set<Call> inFlight = ConcurrentHashMap.newKeySet();

	private final AtomicBoolean scanning = new AtomicBoolean();

	/**
	 * Creates a watchdog.
	 * @param timer runs the scans
	 * @param aborter runs the abort actions, which may do I/O
	 */
	public CallWatchdog(LockTimer timer, Executor aborter) {
		this.timer = timer;
		this.aborter = aborter;
	}

	/**
	 * Registers a call that the current thread is about to make.
	 * @param deadline the end of the call
	 * @param interruptible whether an interrupt of the current thread ends it early
	 * @param abort ends the call from another thread; run at most once
	 * @return the call, to be ended by the same thread
	 */
	public Call begin(Deadline deadline, boolean interruptible, Runnable abort) {
		Call call = new Call(deadline, interruptible ? Thread.currentThread() : null, abort);
		this.inFlight.add(call);
		if (this.scanning.compareAndSet(false, true)) {
			schedule(Math.min(PERIOD_NANOS, deadline.remainingNanos()));
		}
		return call;
	}

	private void schedule(long nanos) {
		if (this.timer.trySchedule(this::scan, Math.max(nanos, SHORTEST_NANOS)) == null) {
			// The next call starts the scan again; the store's own time-out bounds this
			// call.
			this.scanning.set(false);
		}
	}

	private void scan() {
		long next = PERIOD_NANOS;
		for (Call call : this.inFlight) {
			long left = call.deadline.remainingNanos();
			if (left <= 0 || call.interrupted()) {
				abort(call);
			}
			else {
				next = Math.min(next, left);
			}
		}
		if (!this.inFlight.isEmpty()) {
			schedule(next);
			return;
		}
		this.scanning.set(false);
		// A call may have begun between the check and the line above.
		if (!this.inFlight.isEmpty() && this.scanning.compareAndSet(false, true)) {
			schedule(SHORTEST_NANOS);
		}
	}

	private void abort(Call call) {
		CountDownLatch aborted = new CountDownLatch(1);
		// Before the state, whose reader waits for it.
		call.aborted = aborted;
		if (!call.state.compareAndSet(State.IN_CALL, State.ABORTING)) {
			return;
		}
		try {
			this.aborter.execute(() -> {
				try {
					call.abort.run();
				}
				finally {
					aborted.countDown();
				}
			});
			this.inFlight.remove(call);
		}
		catch (RuntimeException | Error ex) {
			// The executor is closed or has no thread: the next scan tries again, and a
			// call that ends before it does so as if nothing had been tried.
			call.state.set(State.IN_CALL);
			aborted.countDown();
		}
	}

	private enum State {

		IN_CALL, ABORTING, DONE

	}

	/** One call in flight. */
	public final class Call {

		private final AtomicReference<State> state = new AtomicReference<>(State.IN_CALL);

		/** The abortion that was tried last; written by the scan only. */
		private volatile @Nullable CountDownLatch aborted;

		private final Deadline deadline;

		private final @Nullable Thread caller;

		private final Runnable abort;

		private Call(Deadline deadline, @Nullable Thread caller, Runnable abort) {
			this.deadline = deadline;
			this.caller = caller;
			this.abort = abort;
		}

		private boolean interrupted() {
			return this.caller != null && this.caller.isInterrupted();
		}

		/**
		 * Ends the call. To be called before the connection is used for anything else.
		 * @return {@code true} if the call will not be aborted any more; {@code false} if
		 * it was aborted, so that its connection has to be discarded
		 */
		public boolean end() {
			boolean ended = this.state.compareAndSet(State.IN_CALL, State.DONE);
			if (!ended) {
				awaitAbort();
				ended = this.state.compareAndSet(State.IN_CALL, State.DONE);
			}
			CallWatchdog.this.inFlight.remove(this);
			return ended;
		}

		private void awaitAbort() {
			CountDownLatch tried = this.aborted;
			if (tried != null) {
				Deadline.afterNanos(ABORT_NANOS)
					.awaitUninterruptibly((nanos) -> tried.await(nanos, TimeUnit.NANOSECONDS));
			}
		}

	}

}
