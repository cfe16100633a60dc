package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockHolder;
import io.distributedlock.LockProviderException;
import io.distributedlock.redis.RedisLayout.State;

/** The reply of {@code attempt.lua}: a grant, or the value of the lock that is busy. */
final class AttemptReply {

	/** The longest pause of a process that no notification can reach. */
	private static final Duration SHORT_POLL_INTERVAL = Duration.ofMillis(100);

	private static final int AFTER_STATE = RedisLayout.ID_LENGTH + 1;

	private static final int LABEL = AFTER_STATE + RedisLayout.GRANT_SECOND_LENGTH;

	private final ScriptReply reply;

	private final String value;

	AttemptReply(ScriptReply reply) {
		this.reply = reply;
		this.value = isGranted() ? "" : new String(reply.bytes(1), StandardCharsets.UTF_8);
	}

	boolean isGranted() {
		return order() != Script.NOT_GRANTED;
	}

	/**
	 * Requires that the reply can be relied on.
	 * @throws LockProviderException if the client may have sent the command more than
	 * once, so that another run of it may grant the lock later, or too few replicas
	 * acknowledged the grant
	 */
	void requireReliable() {
		if (this.reply.resent()) {
			throw new LockProviderException(LockError.STORE_FAILED, RedisErrors.PROVIDER,
					"lost the connection during an attempt: whether the lock was granted is unknown", null);
		}
		if (isGranted() && !this.reply.replicated()) {
			throw new LockProviderException(LockError.STORE_FAILED, RedisErrors.PROVIDER,
					"granted a lock, but too few replicas acknowledged it in time: the lock is released", null);
		}
	}

	long order() {
		return this.reply.number(0);
	}

	/**
	 * How long the granted lock lasts: the whole lease, or the rest of an earlier grant.
	 */
	Duration validity(Duration lease) {
		if (this.reply.values().size() == 1) {
			return lease;
		}
		Duration remaining = Duration.ofMillis(this.reply.number(1));
		return (remaining.isNegative() || remaining.compareTo(lease) > 0) ? lease : remaining;
	}

	/**
	 * The score of this process in the wait queue, the server's microsecond of its first
	 * entry; 0 if it is not in the queue.
	 */
	long score() {
		return this.reply.number(4);
	}

	/**
	 * Whether the entry of this process was taken from the wait queue since its last
	 * attempt, and the reservation that followed has ended. So has an entry that expired.
	 */
	boolean missedReservation() {
		return this.reply.number(5) == 1;
	}

	/**
	 * The server's error where it denied a step of waiting, behind the name of its
	 * command; empty if it did not.
	 */
	String denied() {
		return new String(this.reply.bytes(6), StandardCharsets.UTF_8);
	}

	/** The holder of the lock, or {@code null} if it is reserved or free. */
	@Nullable LockHolder holder() {
		if ((!State.HELD.isOf(this.value) && !State.CONTENDED.isOf(this.value)) || this.value.length() < LABEL) {
			return null;
		}
		long remainingMillis = this.reply.number(2);
		return new LockHolder(this.value.substring(LABEL), heldFor(this.value.substring(AFTER_STATE, LABEL)),
				(remainingMillis >= 0) ? Duration.ofMillis(remainingMillis) : null);
	}

	private @Nullable Duration heldFor(String grantSecond) {
		try {
			long seconds = TimeUnit.MICROSECONDS.toSeconds(nowMicros()) - Long.parseLong(grantSecond);
			return (seconds >= 0) ? Duration.ofSeconds(seconds) : null;
		}
		catch (NumberFormatException ex) {
			return null;
		}
	}

	private long nowMicros() {
		return this.reply.number(3);
	}

	/**
	 * The pause until the next attempt, which a notification cuts short. Random in part,
	 * so that not all processes attempt at the same moment.
	 * @param queued whether this process is in the wait queue
	 * @param notifiable whether its notifications seem to arrive
	 */
	Duration retryAfter(boolean queued, boolean notifiable) {
		Duration interval = !queued ? SHORT_POLL_INTERVAL
				: notifiable ? RedisLayout.POLL_INTERVAL : RedisLayout.RESERVATION.dividedBy(2);
		long longestNanos = interval.toNanos() - ThreadLocalRandom.current().nextLong(interval.toNanos() / 5);
		long remainingNanos = remainingNanos();
		return Duration.ofNanos((remainingNanos >= 0) ? Math.min(remainingNanos, longestNanos) : longestNanos);
	}

	/** The rest of the lease or of the reservation; negative if it is unknown. */
	private long remainingNanos() {
		if (State.RESERVED.isOf(this.value)) {
			try {
				long micros = Long.parseLong(this.value.substring(AFTER_STATE)) - nowMicros();
				return TimeUnit.MICROSECONDS.toNanos(Math.max(micros, 0) + ThreadLocalRandom.current().nextInt(2000));
			}
			catch (NumberFormatException ex) {
				return -1;
			}
		}
		return TimeUnit.MILLISECONDS.toNanos(this.reply.number(2));
	}

}
