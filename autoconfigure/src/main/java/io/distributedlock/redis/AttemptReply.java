package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.StoredLock;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.RedisLayout.State;
import io.distributedlock.redis.script.Script;
import io.distributedlock.redis.script.ScriptReply;

/**
 * The reply of {@code attempt.lua}: a grant, or the header of the value of a busy lock.
 */
public final class AttemptReply {

	/** The longest pause of a process that no notification can reach. */
	private static final Duration SHORT_POLL_INTERVAL = Duration.ofMillis(100);

	private static final int GRANT_SECOND = RedisLayout.RESERVED_HEADER_LENGTH;

	private static final int GRANT_SECOND_END = GRANT_SECOND + RedisLayout.GRANT_SECOND_LENGTH;

	private static final int LABEL = RedisLayout.HELD_HEADER_LENGTH;

	/** The values that {@code inspect.lua} replies for each grant. */
	private static final int INSPECTED = 5;

	private final ScriptReply reply;

	private final String value;

	public AttemptReply(ScriptReply reply) {
		this(reply, "");
	}

	/**
	 * Reads a reply.
	 * @param header the header of the lock as it was, which the reply leaves out if it is
	 * still the same; empty if the command did not name one
	 */
	AttemptReply(ScriptReply reply, String header) {
		this.reply = reply;
		String replied = isGranted() ? "" : new String(reply.bytes(1), StandardCharsets.UTF_8);
		boolean same = !header.isEmpty() && replied.isEmpty() && !isGranted() && score() > 0;
		this.value = same ? header : replied;
	}

	/** The header of a busy lock, or its whole value. */
	String header() {
		return this.value;
	}

	public boolean isGranted() {
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

	public long order() {
		return this.reply.number(0);
	}

	/**
	 * How long the granted lock lasts: the whole lease, or the rest of an earlier grant.
	 */
	public Duration validity(Duration lease) {
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

	/** Whether the earlier entry of this process is not in the wait queue any more. */
	boolean isEntryGone() {
		return this.reply.number(5) == 1;
	}

	/** The server's microsecond of the reply. */
	long micros() {
		return this.reply.number(3);
	}

	/** The id with which the value begins; empty if there is none. */
	public String owner() {
		return (this.value.length() > RedisLayout.ID_LENGTH) ? this.value.substring(0, RedisLayout.ID_LENGTH) : "";
	}

	/** Whether the value is that of a held lock. */
	boolean isHeld() {
		return State.HELD.isOf(this.value);
	}

	/** The server's microsecond at which the value was created, or 0 if unknown. */
	long created() {
		try {
			return (this.value.length() >= GRANT_SECOND)
					? Long.parseLong(this.value, RedisLayout.ID_LENGTH + 1, GRANT_SECOND, 10) : 0;
		}
		catch (NumberFormatException ex) {
			return 0;
		}
	}

	/**
	 * The holder of the lock, or the last one of a lock that is kept; {@code null} if it
	 * is reserved or free.
	 */
	public @Nullable LockHolder holder() {
		boolean kept = State.KEPT.isOf(this.value);
		if (!(kept || State.HELD.isOf(this.value) || State.SHARED.isOf(this.value)) || this.value.length() < LABEL) {
			return null;
		}
		long remainingMillis = this.reply.number(2);
		return LockHolder.of(this.value.substring(LABEL))
			.withHeldFor(heldFor(this.value.substring(GRANT_SECOND, GRANT_SECOND_END)))
			.withRemaining((remainingMillis >= 0) ? Duration.ofMillis(remainingMillis) : null)
			.withReleased(kept);
	}

	/**
	 * Reads the reply of {@code inspect.lua}: the lock as operators see it, or its
	 * shares. Redis keeps the order of a share only.
	 * @return the grants; empty if the lock is reserved or free
	 */
	public static List<StoredLock> stored(ScriptReply reply, LockKey key) {
		List<StoredLock> locks = new ArrayList<>();
		for (int from = 0; from < reply.values().size(); from += INSPECTED) {
			AttemptReply one = new AttemptReply(new ScriptReply(reply.values().subList(from, from + INSPECTED), true));
			LockHolder holder = one.holder();
			if (holder != null) {
				locks.add(new StoredLock(key.encoded(), one.isHeld() ? new OwnerId(one.owner()) : null,
						(one.score() > 0) ? one.score() : null, holder));
			}
		}
		return locks;
	}

	private @Nullable Duration heldFor(String grantSecond) {
		try {
			long seconds = TimeUnit.MICROSECONDS.toSeconds(micros()) - Long.parseLong(grantSecond);
			return (seconds >= 0) ? Duration.ofSeconds(seconds) : null;
		}
		catch (NumberFormatException ex) {
			return null;
		}
	}

	/**
	 * The pause until the next attempt, which a notification cuts short. Random in part,
	 * so that not all processes attempt at the same moment. A lock that is kept needs no
	 * attempt before the end of that.
	 * @param queued whether this process is in the wait queue
	 * @param notifiable whether its notifications seem to arrive
	 */
	Duration retryAfter(boolean queued, boolean notifiable) {
		Duration interval = State.KEPT.isOf(this.value) ? RedisLayout.POLL_INTERVAL : !queued ? SHORT_POLL_INTERVAL
				: notifiable ? RedisLayout.POLL_INTERVAL : RedisLayout.RESERVATION.dividedBy(2);
		long longestNanos = random(interval);
		long remainingNanos = remainingNanos();
		return Duration.ofNanos((remainingNanos >= 0) ? Math.min(remainingNanos, longestNanos) : longestNanos);
	}

	/**
	 * Returns the pause of a process in the wait queue that was answered without a
	 * command.
	 * @param reserved the rest of a reservation that only this process checks, or
	 * {@code null}
	 */
	static Duration pauseInQueue(@Nullable Duration reserved) {
		return Duration
			.ofNanos((reserved != null) ? afterReservation(reserved.toNanos()) : random(RedisLayout.POLL_INTERVAL));
	}

	/** Random in part, since others may attempt after the same reservation. */
	private static long afterReservation(long nanos) {
		return nanos + TimeUnit.MICROSECONDS.toNanos(ThreadLocalRandom.current().nextInt(2000));
	}

	private static long random(Duration longest) {
		return longest.toNanos() - ThreadLocalRandom.current().nextLong(longest.toNanos() / 5);
	}

	/** The rest of the lease or of the reservation; negative if it is unknown. */
	private long remainingNanos() {
		long millis = this.reply.number(2);
		if (State.RESERVED.isOf(this.value) && millis >= 0) {
			long reserved = Math.max(millis - RedisLayout.POLL_INTERVAL.toMillis(), 0);
			return afterReservation(TimeUnit.MILLISECONDS.toNanos(reserved));
		}
		return TimeUnit.MILLISECONDS.toNanos(millis);
	}

}
