package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;

/**
 * Signal of one contender to attempt or poll, at once or after a pause. Of several
 * pending signals only the earliest is sent. Safe for use by many threads.
 */
final class PollSignal {

	private final LockTimer timer;

	private final Runnable signal;

	private @Nullable Future<?> pending;

	private Deadline due = Deadline.now();

	/**
	 * Creates a signal.
	 * @param signal what to run; quick, without I/O
	 */
	PollSignal(LockTimer timer, Runnable signal) {
		this.timer = timer;
		this.signal = signal;
	}

	/** Sends the signal at once. */
	void send() {
		this.signal.run();
	}

	/** Sends the signal after a pause, unless an earlier one is pending. */
	synchronized void sendAfter(Duration pause) {
		if (this.pending != null && !this.pending.isDone() && this.due.remainingNanos() <= pause.toNanos()) {
			return;
		}
		cancel();
		this.pending = this.timer.trySchedule(this.signal, pause.toNanos());
		this.due = Deadline.after(pause);
	}

	/** Cancels the pending signal, if any. */
	synchronized void cancel() {
		if (this.pending != null) {
			this.pending.cancel(false);
		}
	}

}
