package io.distributedlock.jdbc;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Pauses of one contender between two polls. They grow from 5 ms to 250 ms with jitter,
 * and start again when the lock was granted to another process. Where the database
 * notifies contenders, they poll about once a second in case a notification was lost. Not
 * safe for use by several threads.
 */
final class PollBackOff {

	private static final long INITIAL_MICROS = 5_000;

	private static final long MAX_MICROS = 250_000;

	private static final long NOTIFIED_MICROS = 1_000_000;

	private static final long MIN_MICROS = 1_000;

	private long nextMicros = INITIAL_MICROS;

	private long order;

	/**
	 * Returns the pause of a contender that polls. With an entry in the wait queue it
	 * polls twice within a reservation.
	 * @param row the busy answer
	 * @param process the id of the contender's process
	 * @param ageMicros how old the answer can be
	 * @param reservationMicros the length of a reservation
	 */
	Duration polling(LockRow row, String process, long ageMicros, long reservationMicros) {
		if (row.order() > this.order) {
			this.order = row.order();
			this.nextMicros = INITIAL_MICROS;
		}
		long pauseMicros = Math.min(this.nextMicros, row.isQueued(process) ? reservationMicros / 2 : MAX_MICROS);
		this.nextMicros = Math.min(this.nextMicros + this.nextMicros / 2, MAX_MICROS);
		return jittered(pauseMicros, row, ageMicros);
	}

	/**
	 * Returns the pause of a contender that is notified of releases.
	 * @param row the busy answer
	 * @param ageMicros how old the answer can be
	 */
	Duration notified(LockRow row, long ageMicros) {
		this.nextMicros = INITIAL_MICROS;
		return jittered(NOTIFIED_MICROS, row, ageMicros);
	}

	/** Shortens the pause by up to a fifth, and to the end of the holder's lease. */
	private static Duration jittered(long pauseMicros, LockRow row, long ageMicros) {
		long jitteredMicros = pauseMicros - ThreadLocalRandom.current().nextLong(pauseMicros / 5 + 1);
		return Duration.of(Math.max(Math.min(jitteredMicros, row.remainingMicros() - ageMicros), MIN_MICROS),
				ChronoUnit.MICROS);
	}

	/** Returns the pause after an attempt that met another one at the same row. */
	static Duration afterContention() {
		return Duration.ofMillis(ThreadLocalRandom.current().nextLong(2, 10));
	}

}
