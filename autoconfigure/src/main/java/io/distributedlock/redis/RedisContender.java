package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.RedisLockKeys;
import io.distributedlock.redis.script.ReplyHandler;
import io.distributedlock.redis.script.ScriptReply;

/**
 * This process as a contender for one lock. It enters the wait queue once its
 * subscription is active, or cannot be: earlier notifications would be lost. While it is
 * not active, or seems silent, it attempts twice in the time of a reservation.
 * <p>
 * Its state is guarded by its monitor. An operation whose call was abandoned may end
 * later: only the one that began last changes the state.
 */
final class RedisContender implements LockContender, RedisContenderRegistry.Contender {

	/** The part of an attempt's time that is left for its answer, as a divisor. */
	private static final int ANSWER_SHARE = 8;

	/** After so many notifications that did not come, none are expected. */
	private static final int MOST_MISSED = 2;

	private final LockKey key;

	private final RedisLockKeys keys;

	/** The most shares that there may be with its own, 0 for an exclusive grant. */
	private final int limit;

	private final RedisLockRecipe repository;

	private final NotificationSubscription subscription;

	private final RedisContenderRegistry contenders;

	private final Runnable changed;

	private final QueueEntry entry = new QueueEntry();

	/** Whether the wait queue may have an entry of this process. */
	private boolean queued;

	/** Whether a notification has come that led to no grant yet. */
	private boolean notified;

	/** Whether one has come since the last attempt began. */
	private boolean reserved;

	/** How many notifications in a row did not come. */
	private int missed;

	/** Whether the subscription has not been confirmed since the last of these. */
	private boolean unconfirmed;

	/** The operation that began last, unless it granted the lock or failed. */
	private @Nullable Object current;

	/**
	 * Creates a contender without an entry in the wait queue.
	 * @param limit the most shares that there may be with its own, 0 for an exclusive
	 * grant
	 * @param changed causes the next attempt; must not block
	 */
	RedisContender(LockKey key, RedisLockKeys keys, int limit, RedisLockRecipe repository,
			NotificationSubscription subscription, RedisContenderRegistry contenders, Runnable changed) {
		this.key = key;
		this.keys = keys;
		this.limit = limit;
		this.repository = repository;
		this.subscription = subscription;
		this.contenders = contenders;
		this.changed = changed;
	}

	@Override
	public String lockName() {
		return this.keys.name();
	}

	@Override
	public void onNotified() {
		synchronized (this) {
			this.notified = true;
			this.reserved = true;
			this.missed = 0;
		}
		this.changed.run();
	}

	@Override
	public void onSubscribed() {
		synchronized (this) {
			this.unconfirmed = false;
		}
		this.changed.run();
	}

	@Override
	public StoreCall<AttemptResult> attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
		Attempt attempt = new Attempt(owner, lease, willWait, Deadline.after(timeout));
		boolean active = this.subscription.isActive();
		boolean enqueued = begin(attempt);
		Duration pause = (willWait && !enqueued && active) ? claimEntry(attempt) : null;
		if (pause != null) {
			return AnsweredStoreCall.of(new AttemptResult.Busy(pause, null, false));
		}
		if (willWait && enqueued && !active) {
			this.subscription.begin();
		}
		attempt.send(willWait && (enqueued || !this.subscription.isPending()));
		return attempt.call();
	}

	/** Begins an attempt; returns whether the wait queue should have an entry. */
	private synchronized boolean begin(Attempt attempt) {
		this.current = attempt;
		attempt.queuedBefore = this.queued;
		attempt.probablyFree = !this.reserved;
		this.reserved = false;
		return this.queued && this.entry.score() > 0;
	}

	/**
	 * Claims the entry in the wait queue that the last release has made.
	 * @return the pause until the next attempt, if the process has the entry since so
	 * short a time that it need not ask; else {@code null}
	 */
	private @Nullable Duration claimEntry(Attempt attempt) {
		// Registered before, since the notification may come at once.
		this.contenders.add(this);
		ContendedReleases.KeptEntry kept = this.repository.claimEntry(this.keys);
		synchronized (this) {
			attempt.probablyFree &= kept == null;
			if (kept != null && kept.score() > 0) {
				attempt.queuedBefore = true;
				this.queued = true;
				this.entry.set(kept.score());
				return (!kept.reserved().isNegative() && isNextExpected())
						? AttemptReply.pauseInQueue(kept.alone() ? kept.reserved() : null) : null;
			}
			if (!this.queued) {
				this.contenders.remove(this);
			}
			return null;
		}
	}

	/** Whether the next notification is expected to come. Guarded by the monitor. */
	private boolean isNextExpected() {
		return this.missed == 0 || (this.missed < MOST_MISSED && !this.unconfirmed);
	}

	/**
	 * Enters the wait queue with the command that follows.
	 * @return the score of the entry, or {@link RedisLockRecipe#NO_ENTRY} if another
	 * operation has begun
	 */
	private synchronized long enqueue(Attempt attempt) {
		attempt.header = "";
		if (this.current != attempt) {
			return RedisLockRecipe.NO_ENTRY;
		}
		if (this.limit == 0 && attempt.probablyFree && this.entry.score() > 0) {
			attempt.header = this.entry.header();
		}
		this.queued = true;
		this.contenders.add(this);
		return this.entry.score();
	}

	/** Records a grant, which removes the entry from the wait queue. */
	private synchronized void recordGrant(Attempt attempt) {
		if (this.current == attempt) {
			this.current = null;
			this.entry.clear();
			this.notified = false;
			dequeued();
		}
		this.repository.recordGrant(this.keys);
	}

	/** Records a failure; without effect, the attempt has made no entry. */
	private synchronized void recordFailure(Attempt attempt, LockProviderException failure) {
		if (this.current == attempt) {
			this.current = null;
			if (!failure.isEffectUnknown() && !attempt.queuedBefore) {
				dequeued();
			}
		}
	}

	private void dequeued() {
		if (this.queued) {
			this.queued = false;
			this.contenders.remove(this);
		}
	}

	/**
	 * Records a busy reply.
	 * @return the pause until the next attempt
	 */
	private Duration recordBusy(Attempt attempt, AttemptReply reply) {
		boolean active = this.subscription.isActive();
		boolean silent = false;
		boolean enqueued;
		boolean notifiable;
		synchronized (this) {
			if (this.current == attempt) {
				boolean inVain = this.entry.update(reply);
				silent = inVain && !this.notified;
				this.notified &= !inVain;
				if (silent) {
					this.missed++;
					this.unconfirmed = true;
				}
			}
			enqueued = this.queued && reply.score() > 0;
			notifiable = active && isNextExpected();
		}
		if (silent) {
			this.subscription.replace();
		}
		return reply.retryAfter(enqueued, notifiable);
	}

	@Override
	public StoreCall<ReleaseOutcome> withdraw(Duration timeout) {
		Object withdrawal = new Object();
		synchronized (this) {
			if (!this.queued) {
				return AnsweredStoreCall.of(ReleaseOutcome.NOT_HELD);
			}
			this.current = withdrawal;
			this.entry.clear();
			// Not registered any more even if the withdrawal fails: a later reservation
			// is then unwanted, and withdrawn as such.
			this.contenders.remove(this);
		}
		if (this.limit > 0 && this.contenders.notify(lockName())) {
			// A contender with another limit has the same entry.
			withdrawn(withdrawal, ReleaseOutcome.RELEASED);
			return AnsweredStoreCall.of(ReleaseOutcome.RELEASED);
		}
		return this.repository.withdraw(this.keys, timeout, (outcome) -> withdrawn(withdrawal, outcome));
	}

	private synchronized void withdrawn(Object withdrawal, ReleaseOutcome outcome) {
		if (this.current == withdrawal) {
			this.queued = outcome == ReleaseOutcome.UNKNOWN;
		}
	}

	@Override
	public synchronized void close() {
		this.current = null;
		this.contenders.remove(this);
	}

	/** One attempt, whose second script enters the wait queue if the first could not. */
	private final class Attempt extends ReplyHandler<AttemptResult> {

		private final OwnerId owner;

		private final Duration lease;

		private final Deadline deadline;

		private final boolean willWait;

		private boolean enqueues;

		private boolean probablyFree = true;

		/** The header of the lock when the entry was in its queue, or empty. */
		private String header = "";

		/** Whether the wait queue may have had an entry before. */
		private boolean queuedBefore;

		private Attempt(OwnerId owner, Duration lease, boolean willWait, Deadline deadline) {
			this.owner = owner;
			this.lease = lease;
			this.willWait = willWait;
			this.deadline = deadline;
		}

		private void send(boolean enqueue) {
			this.enqueues = enqueue;
			long entry = enqueue ? enqueue(this) : RedisLockRecipe.NO_ENTRY;
			if (RedisContender.this.limit > 0) {
				RedisContender.this.repository.attemptShare(RedisContender.this.keys, this.owner, this.lease,
						RedisContender.this.limit, entry, this.deadline, this);
				return;
			}
			RedisContender.this.repository.attempt(RedisContender.this.keys, this.owner, this.lease, entry,
					this.header.isEmpty() ? "" : this.header.substring(0, RedisLayout.RESERVED_HEADER_LENGTH),
					this.probablyFree, this.deadline, this);
		}

		@Override
		public void onReply(ScriptReply scriptReply) {
			AttemptReply reply = new AttemptReply(scriptReply, this.header);
			reply.requireReliable();
			if (reply.isGranted()) {
				recordGrant(this);
				if (RedisContender.this.limit > 0) {
					// Those with other limits had the same entry in the wait queue.
					RedisContender.this.contenders.notify(lockName());
				}
				call().complete(new AttemptResult.Granted(
						new LockGrant(RedisContender.this.key, this.owner, reply.order(), reply.validity(this.lease))));
				return;
			}
			AttemptResult.Busy busy = new AttemptResult.Busy(recordBusy(this, reply), reply.holder());
			if (this.willWait && !this.enqueues) {
				subscribe(busy);
			}
			else {
				call().complete(busy);
			}
		}

		/**
		 * Attempts once more, in the queue, when the subscription is active or has
		 * failed: outside of it, those that are in it would leave it no turn.
		 */
		private void subscribe(AttemptResult.Busy busy) {
			long nanos = this.deadline.remainingNanos();
			Deadline end = Deadline.afterNanos(nanos - nanos / ANSWER_SHARE);
			CompletableFuture<@Nullable Void> wait = RedisContender.this.subscription.activate(end);
			if (RedisContender.this.repository.isBlocking()) {
				await(wait, end);
				attemptAgain(busy);
				return;
			}
			// Before what follows the wait, which has an action of its own for that.
			call().onAbandon(() -> wait.cancel(false));
			wait.thenRun(() -> attemptAgain(busy)).whenComplete((done, ex) -> {
				if (ex != null) {
					call().fail(RedisErrors.translate(new IllegalStateException(ex), true));
				}
			});
		}

		/** Waits on the caller's thread, which the client blocks anyway. */
		private static void await(CompletableFuture<@Nullable Void> wait, Deadline end) {
			CountDownLatch ended = new CountDownLatch(1);
			wait.thenRun(ended::countDown);
			try {
				end.await(CallKind.ACQUIRE, (nanos) -> ended.await(nanos, TimeUnit.NANOSECONDS));
			}
			catch (InterruptedException ex) {
				wait.cancel(false);
				Thread.currentThread().interrupt();
				throw RedisErrors.notCalledBeforeInterrupt(ex);
			}
		}

		private void attemptAgain(AttemptResult.Busy busy) {
			if (!this.deadline.isPast() && !isAbandoned()) {
				send(true);
			}
			else {
				call().complete(busy);
			}
		}

		@Override
		public void onFailure(LockProviderException failure) {
			recordFailure(this, failure);
			call().fail(failure);
		}

	}

}
