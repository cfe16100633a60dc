package io.distributedlock.redis;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.function.Supplier;

import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.StoreCall;

/**
 * The background steps after reservations: one step for each reservation that this
 * process made while further processes were in the wait queue, and one for each
 * reservation for this process that it does not use. No thread waits for their replies,
 * unless the client blocks.
 */
final class ReservationMonitor {

	/** The time-out of steps, for which no caller waits. */
	static final Duration STEP_TIMEOUT = Duration.ofSeconds(1);

	/** The reservation, and some time by which the clocks may differ. */
	private static final Duration RESERVATION = RedisLayout.RESERVATION.plusMillis(5);

	/**
	 * How late a step is still of use: the waiters attempt once a second. A client that
	 * blocks delays steps while a server does not reply.
	 */
	private static final Duration LATENESS = RedisLayout.POLL_INTERVAL;

	/** Further reservations are left to the waiters too. */
	private static final int CAPACITY = 1_000;

	private final RedisTimer timer;

	private final Set<String> scheduled = ConcurrentHashMap.newKeySet();

	ReservationMonitor(RedisTimer timer) {
		this.timer = timer;
	}

	/**
	 * Runs a step once a reservation made now has ended. At most one step per lock is
	 * scheduled, however many reservations are made meanwhile.
	 * @param step sends the command of the step
	 */
	void runAfterReservation(String lockName, Supplier<? extends StoreCall<?>> step) {
		if (this.scheduled.size() < CAPACITY && this.scheduled.add(lockName)) {
			Deadline latest = Deadline.after(RESERVATION.plus(LATENESS));
			Future<?> pending = this.timer.schedule(() -> {
				this.scheduled.remove(lockName);
				run(step, latest);
			}, RESERVATION.toNanos());
			if (pending == null) {
				this.scheduled.remove(lockName);
			}
		}
	}

	/**
	 * Runs a step soon, on the thread of the timer.
	 * @param step sends the command of the step
	 */
	void runNow(Supplier<? extends StoreCall<?>> step) {
		if (this.timer.size() < 2 * CAPACITY) {
			Deadline latest = Deadline.after(LATENESS);
			this.timer.schedule(() -> run(step, latest), 0);
		}
	}

	private void run(Supplier<? extends StoreCall<?>> step, Deadline latest) {
		if (latest.isPast()) {
			return;
		}
		StoreCall<?> call = step.get();
		if (!call.isDone()) {
			Future<?> end = this.timer.schedule(call::abandon, STEP_TIMEOUT.toNanos());
			if (end == null) {
				call.abandon();
				return;
			}
			call.onDone(() -> end.cancel(false));
		}
	}

}
