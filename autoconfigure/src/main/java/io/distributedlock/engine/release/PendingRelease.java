package io.distributedlock.engine.release;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.engine.concurrent.BoundedCall;
import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * One release or withdrawal in the {@link PendingReleaseQueue}. Its mutable fields are
 * guarded by the lock of that queue.
 */
public final class PendingRelease {

	private static final Log logger = LogFactory.getLog(PendingRelease.class);

	private static final long SHORTEST_PAUSE_NANOS = Duration.ofMillis(100).toNanos();

	private static final long LONGEST_PAUSE_NANOS = Duration.ofSeconds(30).toNanos();

	final LockKey key;

	/** The node of the store that keeps the key. */
	final Object node;

	final Kind kind;

	final long giveUpNanos;

	private final Command command;

	private final Runnable onEnd;

	/** When it is due next by the nano time, unless it was never sent. */
	long dueNanos;

	boolean sentBefore;

	boolean underWay;

	boolean cancelled;

	private long pauseNanos = SHORTEST_PAUSE_NANOS;

	/**
	 * Creates an entry.
	 * @param onEnd what follows once the entry has left the queue, however that came
	 * @param giveUpNanos when it is no longer repeated
	 */
	PendingRelease(LockKey key, Object node, Kind kind, Command command, Runnable onEnd, long giveUpNanos) {
		this.key = key;
		this.node = node;
		this.kind = kind;
		this.command = command;
		this.onEnd = onEnd;
		this.giveUpNanos = giveUpNanos;
	}

	/**
	 * Sends the command.
	 * @param onEnd receives the outcome, also that of a command that could not be sent
	 */
	void send(EngineEnvironment environment, Duration timeout, Consumer<ReleaseOutcome> onEnd) {
		AtomicBoolean ended = new AtomicBoolean();
		try {
			BoundedCall.begin(this.command.send(timeout), environment, timeout, (call) -> {
				if (ended.compareAndSet(false, true)) {
					onEnd.accept(outcome(call));
				}
			});
		}
		catch (RuntimeException | Error ex) {
			if (ended.compareAndSet(false, true)) {
				onEnd.accept(unknown(ex));
			}
		}
	}

	private ReleaseOutcome outcome(@Nullable StoreCall<ReleaseOutcome> call) {
		try {
			return (call != null) ? call.result() : ReleaseOutcome.UNKNOWN;
		}
		catch (RuntimeException | Error ex) {
			return unknown(ex);
		}
	}

	private ReleaseOutcome unknown(Throwable ex) {
		logger.debug("The background release of lock '" + this.key + "' failed", ex);
		return ReleaseOutcome.UNKNOWN;
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

	/** Sets when it is due again, with a pause that grows. */
	void pauseFrom(long nowNanos) {
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

	/** The command that is sent to the store. */
	public interface Command {

		StoreCall<ReleaseOutcome> send(Duration timeout);

	}

}
