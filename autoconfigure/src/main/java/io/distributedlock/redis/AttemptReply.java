package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.redis.ScriptExecutor.Reply;

/** Reads what {@code attempt.lua} answers. */
final class AttemptReply {

	/** What stands in the place of the order if there was no grant. */
	static final long BUSY = 0;

	/** How long a waiter goes at most without looking. */
	static final Duration POLL = Duration.ofSeconds(1);

	/** How long it does where nobody can wake it. */
	private static final Duration SHORT_POLL = Duration.ofMillis(100);

	private static final int OWNER = 32;

	private static final int STATE = OWNER;

	private static final int SINCE = 10;

	private final Reply reply;

	private final String value;

	AttemptReply(Reply reply) {
		this.reply = reply;
		this.value = isGranted() ? "" : new String(reply.bytes(1), StandardCharsets.UTF_8);
	}

	boolean isGranted() {
		return order() != BUSY;
	}

	/** Whether the command may have been sent more than once. */
	boolean isResent() {
		return this.reply.resent();
	}

	/** Whether as many replicas have the grant as are asked for. */
	boolean isReplicated() {
		return this.reply.replicated();
	}

	long order() {
		return this.reply.number(0);
	}

	/** How long a granted lock lasts: what was asked for, or what is left of it. */
	Duration validity(Duration lease) {
		if (this.reply.values().size() == 1) {
			return lease;
		}
		Duration left = Duration.ofMillis(this.reply.number(1));
		return (left.isNegative() || left.compareTo(lease) > 0) ? lease : left;
	}

	/** Where this process stands in line, by the microsecond it came, or 0. */
	long score() {
		return this.reply.number(4);
	}

	private char state() {
		return (this.value.length() > STATE) ? this.value.charAt(STATE) : ' ';
	}

	/** Who holds the lock, or {@code null} if it is reserved. */
	@Nullable LockHolder holder() {
		if (state() != 'H' && state() != 'W') {
			return null;
		}
		int label = STATE + 1 + SINCE;
		if (this.value.length() < label) {
			return null;
		}
		long left = this.reply.number(2);
		return new LockHolder(this.value.substring(label), heldFor(this.value.substring(STATE + 1, label)),
				(left >= 0) ? Duration.ofMillis(left) : null);
	}

	private @Nullable Duration heldFor(String since) {
		try {
			long seconds = TimeUnit.MICROSECONDS.toSeconds(now()) - Long.parseLong(since);
			return (seconds >= 0) ? Duration.ofSeconds(seconds) : null;
		}
		catch (NumberFormatException ex) {
			return null;
		}
	}

	private long now() {
		return this.reply.number(3);
	}

	/**
	 * When to ask again though nothing was signalled. Jittered, so that not all who wait
	 * ask together.
	 */
	Duration retryAfter(boolean mayBeWoken) {
		Duration poll = mayBeWoken ? POLL : SHORT_POLL;
		long longest = poll.toNanos() - ThreadLocalRandom.current().nextLong(poll.toNanos() / 5);
		long left = nanosLeft();
		return Duration.ofNanos((left >= 0) ? Math.min(left, longest) : longest);
	}

	/** Until the lease or the reservation ends, or -1 if that is not known. */
	private long nanosLeft() {
		if (state() == 'R') {
			try {
				long micros = Long.parseLong(this.value.substring(STATE + 1)) - now();
				return TimeUnit.MICROSECONDS.toNanos(Math.max(micros, 0) + ThreadLocalRandom.current().nextInt(2000));
			}
			catch (NumberFormatException ex) {
				return -1;
			}
		}
		return TimeUnit.MILLISECONDS.toNanos(this.reply.number(2));
	}

}
