package io.distributedlock.jdbc;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.ThreadLocalRandom;

import org.jspecify.annotations.Nullable;

import io.distributedlock.jdbc.dialect.LockRow;
import io.distributedlock.jdbc.dialect.NotificationPayload;
import io.distributedlock.jdbc.dialect.RowAttempt;

/**
 * Pauses between two polls of a contender. They grow with the time for which it has
 * waited since the last grant: those of the first contender in the wait queue to a
 * sixteenth of it, because a hand-over takes half a pause, those of the others to a half.
 * Where the database notifies contenders, they poll about once a second in case a
 * notification was lost.
 * <p>
 * A contender without an entry in the wait queue has a turn, which is the later the later
 * it was refused: when an entry becomes empty, the contender that was refused first
 * writes itself into it, and the others find it taken.
 */
final class PollBackOff {

	private static final long MIN_MICROS = 1_000;

	private static final long MAX_MICROS = 250_000;

	private static final int FIRST_PART = 16;

	/** The longest pause of the first contender in the first second after a grant. */
	private static final long MAX_FIRST_MICROS = 10_000;

	/** The shortest pause of a contender that no release makes the next one. */
	private static final long UNQUEUED_MICROS = 5_000;

	private static final long SECOND_MICROS = 1_000_000;

	/** The time between a release and the grant by which turns are measured. */
	private static final long PICK_UP_MICROS = 2_000;

	/** Half of the shortest reservation. */
	private static final long LAST_TURN_MICROS = 50_000;

	/** The part of the turns that tells apart refusals within seconds. */
	private static final double SPREAD_MICROS = 30_000;

	private static final double SPREAD_HALF_MICROS = 600_000;

	/** The part that tells apart refusals within milliseconds. */
	private static final double STEP_MICROS = 1_000;

	private PollBackOff() {
	}

	/**
	 * Returns how long after a hand-over a contender without an entry has its turn, at
	 * most half a reservation. It grows steadily but ever more slowly, so that the
	 * contender that was refused first stands out whether refusals are milliseconds or
	 * seconds apart.
	 * @param behindMicros by how much the contender was refused later than the last one
	 * in the wait queue
	 */
	static long turnMicros(long behindMicros) {
		double micros = Math.max(behindMicros, 0);
		double turn = SPREAD_MICROS * micros / (micros + SPREAD_HALF_MICROS)
				+ STEP_MICROS * Math.log1p(micros / 1_000) / Math.log(2);
		return Math.min((long) turn, LAST_TURN_MICROS);
	}

	/**
	 * Returns the pause of a contender that polls. With an entry in the wait queue it
	 * polls twice within a reservation.
	 * @param row the busy answer
	 * @param attempt the attempt
	 * @param ageMicros how old the answer can be
	 * @param reservationMicros the length of a reservation
	 */
	static Duration polling(LockRow row, RowAttempt attempt, long ageMicros, long reservationMicros) {
		long waitedMicros = waitedMicros(row, attempt);
		long turnMicros = turnMicros(row, attempt);
		long pauseMicros;
		if (row.isFirst(attempt.process())) {
			pauseMicros = Math.min(waitedMicros / FIRST_PART,
					(waitedMicros < SECOND_MICROS) ? MAX_FIRST_MICROS : reservationMicros / 2);
		}
		else if (row.isQueued(attempt.process())) {
			pauseMicros = Math.min(MIN_MICROS + waitedMicros / 2, reservationMicros / 2);
		}
		else {
			pauseMicros = Math.min(Math.max(UNQUEUED_MICROS + waitedMicros / 2, 2 * turnMicros), MAX_MICROS);
		}
		return jittered(pauseMicros, row, turnMicros, ageMicros);
	}

	/**
	 * Returns for how long a contender has waited for the holder to release the lock. A
	 * database whose clock was set back cannot tell, and is not polled for that as often
	 * as after a release.
	 */
	private static long waitedMicros(LockRow row, RowAttempt attempt) {
		Long since = attempt.sinceMicros();
		if (since == null) {
			return 0;
		}
		long waitedMicros = Math.min(row.nowMicros() - since, row.heldMicros());
		return (waitedMicros < 0) ? SECOND_MICROS : waitedMicros;
	}

	/**
	 * Returns the pause of a contender that is notified of releases.
	 * @param row the busy answer
	 * @param attempt the attempt
	 * @param ageMicros how old the answer can be
	 * @param reservationMicros the length of a reservation
	 */
	static Duration notified(LockRow row, RowAttempt attempt, long ageMicros, long reservationMicros) {
		long untilTurnMicros = untilTurnMicros(row, attempt, reservationMicros);
		return (untilTurnMicros > 0 && row.isChangedBy(attempt, 0))
				? Duration.of(Math.max(untilTurnMicros, MIN_MICROS), ChronoUnit.MICROS)
				: jittered(SECOND_MICROS, row, turnMicros(row, attempt), ageMicros);
	}

	/**
	 * Returns the time until the turn of a contender. It is not positive if the contender
	 * has an entry, or may acquire the lock.
	 * @param reservationMicros the length of a reservation
	 */
	static long untilTurnMicros(LockRow row, RowAttempt attempt, long reservationMicros) {
		if (row.isAcquirableBy(attempt.process())) {
			return 0;
		}
		long sinceReleaseMicros = row.isReserved() ? reservationMicros - row.remainingMicros()
				: row.heldMicros() + PICK_UP_MICROS;
		return turnMicros(row, attempt) - sinceReleaseMicros;
	}

	/** Returns zero for a contender that has an entry, or may have one at once. */
	private static long turnMicros(LockRow row, RowAttempt attempt) {
		Long since = attempt.sinceMicros();
		return (since == null || row.isQueued(attempt.process())) ? 0 : turnMicros(row.behindMicros(since));
	}

	/**
	 * Shortens the pause by up to a fifth, and to the end of the holder's lease or the
	 * turn after it.
	 */
	private static Duration jittered(long pauseMicros, LockRow row, long turnMicros, long ageMicros) {
		long jitteredMicros = pauseMicros - ThreadLocalRandom.current().nextLong(pauseMicros / 5 + 1);
		return Duration.of(
				Math.max(Math.min(jitteredMicros, row.remainingMicros() + turnMicros - ageMicros), MIN_MICROS),
				ChronoUnit.MICROS);
	}

	/**
	 * Returns the pause between a notification and the poll of a contender.
	 * @param payload the notification, which does not reserve the lock for the contender
	 * @param process the id of the contender's process
	 * @param sinceMicros when it was first refused since 1970, or {@code null}
	 * @param reservationMicros the length of a reservation
	 */
	static Duration afterNotification(NotificationPayload payload, String process, @Nullable Long sinceMicros,
			long reservationMicros) {
		long pauseMicros;
		if (process.equals(payload.first())) {
			pauseMicros = (payload.reserved() != null) ? reservationMicros : 0;
		}
		else if (sinceMicros != null && payload.sinceMicros() != null) {
			pauseMicros = turnMicros(sinceMicros - payload.sinceMicros());
		}
		else {
			pauseMicros = ThreadLocalRandom.current().nextLong(LAST_TURN_MICROS);
		}
		return Duration.of(pauseMicros, ChronoUnit.MICROS);
	}

	/** Returns the pause after an attempt that met another one at the same row. */
	static Duration afterContention() {
		return Duration.ofMillis(ThreadLocalRandom.current().nextLong(2, 10));
	}

}
