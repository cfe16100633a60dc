package io.distributedlock.engine.release;

import java.time.Duration;
import java.util.Collection;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * One release or withdrawal in the {@link PendingReleaseQueue}. Its mutable fields are
 * guarded by the lock of that queue.
 */
public final class PendingRelease {

	private static final Log logger = LogFactory.getLog(PendingRelease.class);

	/** The pause after a command without an answer. */
	static final long NO_ANSWER_PAUSE_NANOS = Duration.ofMillis(500).toNanos();

	private static final long SHORTEST_PAUSE_NANOS = Duration.ofMillis(100).toNanos();

	private static final long LONGEST_PAUSE_NANOS = Duration.ofSeconds(30).toNanos();

	final LockKey key;

	/** What it is about: a {@link ShareKey}, or the key. */
	final Object shareKey;

	/** The node of the store that keeps the key. */
	final Object node;

	final Kind kind;

	/** Sends the command, which ends within a time. */
	final Function<Duration, StoreCall<ReleaseOutcome>> command;

	final long giveUpNanos;

	private final Runnable onEnd;

	/** Where it waits to be sent, or {@code null} while it is under way. */
	@Nullable Collection<PendingRelease> waitsIn;

	/** When it is due next by the nano time, unless it was never sent. */
	long dueNanos;

	boolean sentBefore;

	boolean cancelled;

	private long pauseNanos = SHORTEST_PAUSE_NANOS;

	/**
	 * Creates an entry.
	 * @param onEnd what follows once the entry has left the queue, however that came
	 * @param giveUpNanos when it is no longer repeated
	 */
	PendingRelease(Object shareKey, Object node, Kind kind, Function<Duration, StoreCall<ReleaseOutcome>> command,
			Runnable onEnd, long giveUpNanos) {
		this.key = ShareKey.key(shareKey);
		this.shareKey = shareKey;
		this.node = node;
		this.kind = kind;
		this.command = command;
		this.onEnd = onEnd;
		this.giveUpNanos = giveUpNanos;
	}

	boolean isUnderWay() {
		return this.waitsIn == null;
	}

	/** Lets follow what follows the end of the entry. */
	void close() {
		try {
			this.onEnd.run();
		}
		catch (RuntimeException | Error ex) {
			logger.debug("The contender for lock '" + this.key + "' could not be closed", ex);
		}
	}

	/** Whether an outcome shows that nothing of it is left in the store. */
	boolean isConfirmedBy(ReleaseOutcome outcome) {
		return outcome == ReleaseOutcome.RELEASED
				|| (outcome != ReleaseOutcome.UNKNOWN && this.kind != Kind.UNSEEN_GRANT);
	}

	/** Sets when it is due again after an outcome: the pauses between answers grow. */
	void pauseAfter(ReleaseOutcome outcome, long nowNanos) {
		if (outcome == ReleaseOutcome.UNKNOWN) {
			this.dueNanos = nowNanos + NO_ANSWER_PAUSE_NANOS;
			return;
		}
		this.dueNanos = nowNanos + this.pauseNanos;
		this.pauseNanos = Math.min(this.pauseNanos * 2, LONGEST_PAUSE_NANOS);
	}

	/** What is to be released. */
	public enum Kind {

		/** A grant whose answer was seen. */
		SEEN_GRANT,
		/** An attempt whose answer was not seen, and which may take effect later. */
		UNSEEN_GRANT,
		/** An entry of the wait queue. */
		WAIT_QUEUE_ENTRY

	}

}
