package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * How long a waiter pauses between two looks: from 5 ms up to 250 ms while nothing
 * happens, with jitter, and from the start again when the lock has changed hands. Where
 * the database tells, a look a second is the safety net.
 */
final class Pause {

	private static final long FIRST = 5_000;

	private static final long LONGEST = 250_000;

	private static final long SAFETY = 1_000_000;

	private static final long SHORTEST = 1_000;

	private long next = FIRST;

	private long order;

	/**
	 * The pause of who polls, after a busy answer that was {@code age} microseconds old
	 * on arrival. Who stands in line looks twice in the time that the lock is kept for
	 * it.
	 */
	Duration polling(LockRow row, String process, long age, long grace) {
		if (row.order() > this.order) {
			this.order = row.order();
			this.next = FIRST;
		}
		long pause = Math.min(this.next, row.inLine(process) ? grace / 2 : LONGEST);
		this.next = Math.min(this.next + this.next / 2, LONGEST);
		return jittered(pause, row, age);
	}

	/** The pause of who is told when the lock is passed on. */
	Duration told(LockRow row, long age) {
		this.next = FIRST;
		return jittered(SAFETY, row, age);
	}

	private static Duration jittered(long pause, LockRow row, long age) {
		long jittered = pause - ThreadLocalRandom.current().nextLong(pause / 5 + 1);
		return Duration.of(Math.max(Math.min(jittered, row.remaining() - age), SHORTEST),
				TimeUnit.MICROSECONDS.toChronoUnit());
	}

	/** The pause after somebody was at the row just then. */
	static Duration afterContention() {
		return Duration.ofMillis(ThreadLocalRandom.current().nextLong(2, 10));
	}

}
