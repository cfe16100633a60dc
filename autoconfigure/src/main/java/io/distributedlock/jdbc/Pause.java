package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * How long a waiter pauses between two looks: from 5 ms up to 250 ms while nothing
 * happens, with jitter, and from the start again when the lock has changed hands.
 */
final class Pause {

	private static final long FIRST = 5_000;

	private static final long LONGEST = 250_000;

	/**
	 * Who has the place or a reservation looks twice in the time the lock is kept for it.
	 */
	private static final long IN_LINE = Claim.GRACE / 2;

	private static final long SHORTEST = 1_000;

	private long next = FIRST;

	private long order;

	/** The pause after a busy answer that was {@code age} microseconds old on arrival. */
	Duration after(LockRow row, String process, long age) {
		if (row.order() > this.order) {
			this.order = row.order();
			this.next = FIRST;
		}
		boolean inLine = row.placeHeldBy(process) || row.reservedFor(process);
		long pause = Math.min(this.next, inLine ? IN_LINE : LONGEST);
		this.next = Math.min(this.next + this.next / 2, LONGEST);
		long jittered = pause - ThreadLocalRandom.current().nextLong(pause / 5 + 1);
		return Duration.of(Math.max(Math.min(jittered, row.remaining() - age), SHORTEST),
				TimeUnit.MICROSECONDS.toChronoUnit());
	}

	/** The pause after somebody was at the row just then. */
	static Duration afterContention() {
		return Duration.ofMillis(ThreadLocalRandom.current().nextLong(2, 10));
	}

}
