package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockException;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ProcessLabel;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.redis.check.AttemptGate;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.RedisLockKeys;
import io.distributedlock.redis.script.ReplyHandler;
import io.distributedlock.redis.script.Script;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptExecutor;
import io.distributedlock.redis.script.ScriptReply;

/**
 * The steps of the recipe for one lock, each of which runs one script:
 * {@linkplain #attempt attempt}, {@linkplain #release release}, {@linkplain #keep release
 * that keeps the lock}, {@linkplain #withdraw withdraw}, and the end of a reservation
 * that was not used.
 */
final class RedisLockRecipe {

	private static final Log logger = LogFactory.getLog(RedisLockRecipe.class);

	/**
	 * From so many further processes on, the check of a reservation may be delayed:
	 * others check it earlier.
	 */
	private static final int FURTHER_TO_DELAY_CHECK = 8;

	private static final byte[] NOTHING_HELD = {};

	@SuppressWarnings("UnnecessaryLambda")
	private static final Consumer<ReleaseOutcome> NO_ACTION = (outcome) -> {
	};

	/** The score of a process that does not enter the wait queue. */
	static final long NO_ENTRY = -1;

	private final ScriptExecutor executor;

	private final AttemptGate gate;

	private final ReservationMonitor reservations;

	private final ContendedReleases contended = new ContendedReleases(System::nanoTime);

	/** Whether it was told that the server denies notifications inside a script. */
	private final AtomicBoolean denialTold = new AtomicBoolean();

	private final OwnerId process;

	private final String channelPrefix;

	private final byte[] label = RedisLayout.label(ProcessLabel.get());

	/** The argument of an attempt at a lock that is probably free, without a wait. */
	private final byte[] onlyNow;

	/** The same, to enter the wait queue if the lock is busy. */
	private final byte[] newEntry;

	/** The argument of a release after which the process does not come back. */
	private final byte[] leaving;

	/** That of one with which it enters the wait queue again. */
	private final byte[] returning;

	/**
	 * Creates the steps of one process, for exclusive grants or for shares.
	 * @param process the id of the process in wait queues, reservations and its channel:
	 * that of a share for shares
	 * @param channelPrefix the beginning of the channels' names
	 */
	RedisLockRecipe(ScriptExecutor executor, AttemptGate gate, ReservationMonitor reservations, OwnerId process,
			String channelPrefix) {
		this.executor = executor;
		this.gate = gate;
		this.reservations = reservations;
		this.process = process;
		this.channelPrefix = channelPrefix;
		String id = process.text();
		this.onlyNow = RedisLayout.processArgument(id, false, "");
		this.newEntry = RedisLayout.processArgument(id, false, "0");
		this.leaving = RedisLayout.processArgument(id, false, channelPrefix);
		this.returning = RedisLayout.processArgument(id, true, channelPrefix);
	}

	/** Whether each step waits for its end. */
	boolean isBlocking() {
		return this.executor.isBlocking();
	}

	/**
	 * Attempts to acquire a lock.
	 * @param score the score with which the process enters the wait queue if the lock is
	 * busy, 0 for a new one; {@link #NO_ENTRY} if the process does not wait
	 * @param held what the value of the lock began with when it was held and the process
	 * was in its queue with that score, or empty
	 * @param probablyFree whether the lock is created first, or read first
	 * @param operation what follows the reply
	 */
	void attempt(RedisLockKeys keys, OwnerId owner, Duration lease, long score, String held, boolean probablyFree,
			Deadline deadline, ReplyHandler<?> operation) {
		byte[][] arguments = { RedisLayout.held(owner), ScriptCall.millis(lease), this.label, held.isEmpty()
				? entry(score, probablyFree) : RedisLayout.pollArgument(this.process.text(), score, held) };
		attempt(new ScriptCall(Script.ATTEMPT, new byte[][] { keys.lock(), keys.lastOrder() }, arguments), deadline,
				operation);
	}

	/**
	 * Attempts to acquire a share of a lock.
	 * @param limit the most shares that there may be
	 * @param score as for an exclusive {@linkplain #attempt attempt}
	 * @param operation what follows the reply
	 */
	void attemptShare(RedisLockKeys keys, OwnerId owner, Duration lease, int limit, long score, Deadline deadline,
			ReplyHandler<?> operation) {
		byte[][] arguments = { RedisLayout.held(owner), ScriptCall.millis(lease), this.label, entry(score, true),
				RedisLayout.bytes(Integer.toString(limit)), RedisLayout.bytes(this.channelPrefix) };
		attempt(new ScriptCall(Script.ATTEMPT_SHARE, new byte[][] { keys.lock(), keys.lastOrder() }, arguments),
				deadline, operation);
	}

	private void attempt(ScriptCall call, Deadline deadline, ReplyHandler<?> operation) {
		if (this.gate.isOpenFor(call)) {
			this.executor.run(call, CallKind.ACQUIRE, deadline, operation);
		}
		else {
			this.gate.runAfterCheck(call, deadline, operation);
		}
	}

	private byte[] entry(long score, boolean probablyFree) {
		if (probablyFree && score <= 0) {
			return (score == NO_ENTRY) ? this.onlyNow : this.newEntry;
		}
		return RedisLayout.processArgument(this.process.text(), !probablyFree,
				(score == NO_ENTRY) ? "" : Long.toString(score));
	}

	/** Records that this process has acquired a lock. */
	void recordGrant(RedisLockKeys keys) {
		this.reservations.recordGrant(keys.name());
		this.contended.recordGrant(keys.name());
	}

	/**
	 * Claims the entry in the wait queue that the last release of a lock has made.
	 * @return what is known of the lock since then, or {@code null}
	 */
	ContendedReleases.@Nullable KeptEntry claimEntry(RedisLockKeys keys) {
		return this.contended.claimEntry(keys.name());
	}

	/** Returns the value of a lock as a grant has made it, unless others were waiting. */
	byte[] value(LockGrant grant) {
		return RedisLayout.held(grant.owner(), grant.order(), this.label);
	}

	/**
	 * Releases a lock, if the owner still holds it, to the first process in the queue.
	 * @param value the value of the lock, or its beginning up to the state: one that is
	 * still the same is deleted without a look at its parts
	 */
	StoreCall<ReleaseOutcome> release(RedisLockKeys keys, byte[] value, Duration timeout) {
		if (this.process.isShare()) {
			return run(Script.RELEASE_SHARE, keys, timeout, NO_ACTION, value, this.leaving);
		}
		return run(Script.RELEASE, keys, timeout, NO_ACTION, value,
				this.contended.shouldKeepEntry(keys.name()) ? this.returning : this.leaving);
	}

	/**
	 * Releases a lock, if the owner still holds it, and lets no process acquire it for a
	 * time.
	 */
	StoreCall<ReleaseOutcome> keep(RedisLockKeys keys, OwnerId owner, Duration keepFor, Duration timeout) {
		return run(Script.KEEP, keys, timeout, NO_ACTION, RedisLayout.held(owner), this.leaving,
				ScriptCall.millis(keepFor));
	}

	/**
	 * Removes this process from the wait queue, and its reservation of the lock.
	 * @param onEnd receives the outcome before the call has it; must not block
	 */
	StoreCall<ReleaseOutcome> withdraw(RedisLockKeys keys, Duration timeout, Consumer<ReleaseOutcome> onEnd) {
		return run(Script.WITHDRAW, keys, timeout, onEnd, NOTHING_HELD, this.leaving);
	}

	/**
	 * Removes the entry that the last release of a lock has made, since the lock is
	 * reserved for it and nobody waits.
	 */
	void removeEntry(String lockName) {
		this.contended.removeEntry(lockName);
	}

	/**
	 * Removes the entries that releases have made and nobody has claimed.
	 * @return their locks
	 */
	List<String> removeUnclaimed() {
		return this.contended.removeUnclaimed();
	}

	/** Withdraws in the background a reservation for which no contender waits. */
	void withdrawInBackground(RedisLockKeys keys) {
		this.reservations.runNow(() -> withdraw(keys, ReservationMonitor.STEP_TIMEOUT, NO_ACTION));
	}

	private StoreCall<ReleaseOutcome> expireReservation(RedisLockKeys keys) {
		return run(Script.EXPIRE_RESERVATION, keys, ReservationMonitor.STEP_TIMEOUT, NO_ACTION, NOTHING_HELD,
				this.leaving);
	}

	private StoreCall<ReleaseOutcome> run(Script script, RedisLockKeys keys, Duration timeout,
			Consumer<ReleaseOutcome> onEnd, byte[]... arguments) {
		ReleaseReplyHandler release = new ReleaseReplyHandler(keys,
				script != Script.WITHDRAW && script != Script.EXPIRE_RESERVATION, Deadline.after(timeout), onEnd);
		this.executor.run(new ScriptCall(script, new byte[][] { keys.lock() }, arguments), CallKind.RELEASE,
				release.deadline, release);
		return release.call();
	}

	/** A release, a withdrawal, or the end of a reservation. */
	private final class ReleaseReplyHandler extends ReplyHandler<ReleaseOutcome> {

		private final RedisLockKeys keys;

		/** Whether the owner releases the lock, so that this process may come back. */
		private final boolean ofOwner;

		private final Deadline deadline;

		private final long removalsBefore;

		private final Consumer<ReleaseOutcome> onEnd;

		private ReleaseReplyHandler(RedisLockKeys keys, boolean ofOwner, Deadline deadline,
				Consumer<ReleaseOutcome> onEnd) {
			this.keys = keys;
			this.ofOwner = ofOwner;
			this.deadline = deadline;
			this.removalsBefore = RedisLockRecipe.this.contended.removals();
			this.onEnd = onEnd;
		}

		@Override
		public void onReply(ScriptReply reply) {
			if (reply.values().size() > 1) {
				String denied = new String(reply.bytes(3), StandardCharsets.UTF_8);
				if (!denied.isEmpty() && RedisLockRecipe.this.denialTold.compareAndSet(false, true)) {
					// Locks exclude without notifications, but are handed over slowly.
					logger.warn("Redis does not run PUBLISH for this application, so that waiting processes poll and "
							+ "acquire released locks later. If its user lacks a right, permit PUBLISH on the channels "
							+ "of locks. The server replied: " + denied);
				}
				onReservation(reply.number(1), denied.isEmpty() ? reply.number(2) : 0);
			}
			else if (this.ofOwner) {
				RedisLockRecipe.this.contended.recordUncontended(this.keys.name());
			}
			if (reply.resent()) {
				end(ReleaseOutcome.UNKNOWN);
			}
			else if (reply.number(0) == 1) {
				end(ReleaseOutcome.RELEASED);
			}
			else if (this.ofOwner && reply.resentUnseen()) {
				// An earlier run of it may have released the lock.
				end(ReleaseOutcome.GONE);
			}
			else if (this.ofOwner) {
				confirmNotHeld();
			}
			else {
				end(ReleaseOutcome.NOT_HELD);
			}
		}

		/** Another server than the one that was asked may have the lock. */
		private void confirmNotHeld() {
			StoreCall<Boolean> confirmation = RedisLockRecipe.this.executor.confirmNotHeld(this.keys.lock(),
					this.deadline);
			confirmation.onDone(() -> {
				try {
					confirmation.result();
					end(ReleaseOutcome.NOT_HELD);
				}
				catch (LockException ex) {
					logger.debug("Whether '" + this.keys.name() + "' was held is unknown", ex);
					end(ReleaseOutcome.UNKNOWN);
				}
			});
		}

		/**
		 * Records a reservation. Of many processes that take turns, those that have
		 * released the lock before this one check the reservation meanwhile.
		 */
		private void onReservation(long further, long score) {
			ContendedReleases contended = RedisLockRecipe.this.contended;
			if (this.ofOwner) {
				contended.recordContended(this.keys.name(), score, further == 0, this.removalsBefore);
			}
			if (further > 0) {
				RedisLockRecipe.this.reservations.runAfterReservation(this.keys.name(),
						(further >= FURTHER_TO_DELAY_CHECK) ? contended.lastWaitNanos(this.keys.name()) : 0,
						() -> expireReservation(this.keys));
			}
		}

		@Override
		public void onFailure(LockProviderException failure) {
			logger.debug("Whether '" + this.keys.name() + "' was released is unknown", failure);
			end(ReleaseOutcome.UNKNOWN);
		}

		private void end(ReleaseOutcome outcome) {
			this.onEnd.accept(outcome);
			call().complete(outcome);
		}

	}

}
