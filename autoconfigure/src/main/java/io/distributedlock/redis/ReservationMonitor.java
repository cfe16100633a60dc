package io.distributedlock.redis;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.function.Supplier;

import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.redis.script.RedisLayout;

/**
 * The background steps after reservations. For each lock one step after the last
 * reservation that this process made while another entry was in the wait queue, unless
 * this process has acquired the lock since; and one for each reservation for this process
 * that no contender waits for. No thread waits for their replies, unless the client
 * blocks.
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

	private final LockTimer timer;

	/** The step of each lock that is scheduled. */
	private final Map<String, PendingCheck> checks = new ConcurrentHashMap<>();

	ReservationMonitor(LockTimer timer) {
		this.timer = timer;
	}

	/**
	 * Runs a step once a reservation made now has ended: one step after the last of the
	 * reservations of a lock.
	 * @param laterNanos by how much the step may be delayed, since processes that
	 * released the lock earlier check it too
	 * @param step sends the command of the step
	 */
	void runAfterReservation(String lockName, long laterNanos, Supplier<? extends StoreCall<?>> step) {
		Duration end = RESERVATION.plusNanos(Math.min(laterNanos, LATENESS.toNanos()));
		PendingCheck made = new PendingCheck(Deadline.after(end), Deadline.after(end.plus(LATENESS)), false);
		PendingCheck last = this.checks.replace(lockName, made);
		if (last == null && this.checks.size() < CAPACITY) {
			last = this.checks.putIfAbsent(lockName, made);
			if (last == null) {
				schedule(lockName, made, step);
			}
		}
		else if (last != null && made.due().isBefore(last.due())) {
			schedule(lockName, made, step);
		}
	}

	private void schedule(String lockName, PendingCheck check, Supplier<? extends StoreCall<?>> step) {
		Future<?> pending = this.timer.trySchedule(() -> runWhenOver(lockName, step), check.due().remainingNanos());
		if (pending == null) {
			this.checks.remove(lockName);
		}
	}

	private void runWhenOver(String lockName, Supplier<? extends StoreCall<?>> step) {
		PendingCheck last = this.checks.get(lockName);
		if (last == null) {
			return;
		}
		if (!last.superseded() && !last.due().isPast()) {
			schedule(lockName, last, step);
		}
		else if (!this.checks.remove(lockName, last)) {
			// There is another reservation since.
			runWhenOver(lockName, step);
		}
		else if (!last.superseded()) {
			run(step, last.latest());
		}
	}

	/**
	 * Records that this process has acquired a lock, so that the reservations that it
	 * made before have ended.
	 */
	void recordGrant(String lockName) {
		if (!this.checks.isEmpty()) {
			this.checks.computeIfPresent(lockName, (name, last) -> new PendingCheck(last.due(), last.latest(), true));
		}
	}

	/**
	 * Runs a step soon, on the thread of the timer.
	 * @param step sends the command of the step
	 */
	void runNow(Supplier<? extends StoreCall<?>> step) {
		if (this.timer.size() < 2 * CAPACITY) {
			Deadline latest = Deadline.after(LATENESS);
			this.timer.trySchedule(() -> run(step, latest), 0);
		}
	}

	private void run(Supplier<? extends StoreCall<?>> step, Deadline latest) {
		if (latest.isPast()) {
			return;
		}
		StoreCall<?> call = step.get();
		if (!call.isDone()) {
			Future<?> end = this.timer.trySchedule(call::abandon, STEP_TIMEOUT.toNanos());
			if (end == null) {
				call.abandon();
				return;
			}
			call.onDone(() -> end.cancel(false));
		}
	}

	/**
	 * The step after the last reservation of a lock that this process made.
	 *
	 * @param due when it is due
	 * @param latest until when it is of use
	 * @param superseded whether this process has acquired the lock since
	 */
	private record PendingCheck(Deadline due, Deadline latest, boolean superseded) {
	}

}
