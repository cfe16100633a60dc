package io.distributedlock.engine.grant;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockSnapshot;
import io.distributedlock.LossReason;
import io.distributedlock.engine.concurrent.BoundedCall;
import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.event.GrantHandle;
import io.distributedlock.engine.event.LockEventPublisher;
import io.distributedlock.engine.event.LongHoldWarning;
import io.distributedlock.engine.release.PendingRelease.Kind;
import io.distributedlock.engine.release.PendingReleaseQueue;
import io.distributedlock.engine.release.ShareKey;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * The grants that this process holds, and how each of them ends: released, given to the
 * pending releases, or lost. A grant ends here before the next waiter attempts. Safe for
 * use by many threads.
 */
public final class HeldGrants {

	private static final Log logger = LogFactory.getLog(HeldGrants.class);

	private final LockProvider provider;

	private final EngineEnvironment environment;

	private final Duration callTimeout;

	private final LockEventPublisher events;

	private final PendingReleaseQueue pendingReleases;

	private final long maxHandOffNanos;

	private final LongHoldWarning longHolds = new LongHoldWarning();

	/** Added before the holder sees its handle, removed at the end. */
	private final ConcurrentMap<OwnerId, HeldGrant> all = new ConcurrentHashMap<>();

	public HeldGrants(LockProvider provider, EngineEnvironment environment, LockSettings settings,
			LockEventPublisher events, PendingReleaseQueue pendingReleases) {
		this.provider = provider;
		this.environment = environment;
		this.callTimeout = settings.callTimeout();
		this.events = events;
		this.pendingReleases = pendingReleases;
		this.maxHandOffNanos = settings.maxHandOffNanos();
	}

	public LockEventPublisher events() {
		return this.events;
	}

	public String providerName() {
		return this.provider.name();
	}

	public long nanoTime() {
		return this.environment.nanoTime();
	}

	/** Returns the end of a call that begins now, by the nano time. */
	public long endOfCall() {
		return nanoTime() + this.callTimeout.toNanos();
	}

	public Collection<HeldGrant> all() {
		return this.all.values();
	}

	public boolean isEmpty() {
		return this.all.isEmpty();
	}

	public void add(HeldGrant heldGrant) {
		this.all.put(heldGrant.grant().owner(), heldGrant);
	}

	/** Returns what an observer may know of all that is held. */
	public List<LockSnapshot.Held> views() {
		long now = nanoTime();
		return all().stream()
			.flatMap((heldGrant) -> heldGrant.holds().stream())
			.filter(GrantHandle::isHeld)
			.map((holder) -> holder.view(now))
			.toList();
	}

	/** Returns whether an exclusive grant is held, offered, or being released. */
	public boolean has(LockKey key) {
		return all().stream().anyMatch((heldGrant) -> heldGrant.key().equals(key) && heldGrant.permits() == 0);
	}

	/** Records that a hold has ended, and with it the work under it, if there was any. */
	void workEnded(HeldGrant heldGrant) {
		if (heldGrant.isEndedByLease()) {
			this.longHolds.holdEnded(heldGrant.key(), nanoTime() - heldGrant.begunNanos(), heldGrant.lease());
		}
	}

	/**
	 * Ends a hold whose grant is offered to another request of this process. Looks first
	 * whether that is possible at all, since most releases need not ask the queue.
	 * @return {@code false} if the hold has not ended: the grant is to be released
	 */
	public boolean handOff(HeldGrant heldGrant, int holdNumber) {
		return heldGrant.mayBeHandedOff(this.maxHandOffNanos, nanoTime())
				&& heldGrant.queue().offerToNext(heldGrant, holdNumber);
	}

	/**
	 * Releases a grant whose hold has ended, and lets the next waiter attempt. An
	 * interrupted thread stays interrupted.
	 * @param untilNanos the end of the call by the nano time
	 */
	void release(HeldGrant heldGrant, long untilNanos) {
		if (Nanos.isPast(untilNanos, nanoTime())) {
			releaseInBackground(heldGrant);
			return;
		}
		boolean interrupted = Thread.interrupted();
		ReleaseOutcome outcome = ReleaseOutcome.UNKNOWN;
		// The answer may be that the session has ended, which brings the deadline
		// forward.
		long deadline = heldGrant.deadlineNanos();
		try {
			StoreCall<ReleaseOutcome> call = startRelease(heldGrant, untilNanos, true);
			if (BoundedCall.await(call, this.environment, untilNanos)) {
				outcome = call.result();
			}
		}
		catch (RuntimeException | Error ex) {
			logger.debug("Store '" + this.provider.name() + "' failed to release lock '" + heldGrant.key() + "'", ex);
		}
		finally {
			endRelease(heldGrant, deadline, outcome);
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	public StoreCall<ReleaseOutcome> startRelease(HeldGrant heldGrant, long untilNanos) {
		return startRelease(heldGrant, untilNanos, false);
	}

	private StoreCall<ReleaseOutcome> startRelease(HeldGrant heldGrant, long untilNanos, boolean mayBlock) {
		LockGrant grant = heldGrant.grant();
		long now = nanoTime();
		Duration timeout = Duration.ofNanos(Math.max(1, untilNanos - now));
		Duration keepFor = heldGrant.keepFor(now);
		if (!keepFor.isZero()) {
			return this.provider.release(grant.key(), grant.owner(), keepFor, timeout);
		}
		return mayBlock ? this.provider.releaseBlocking(grant, timeout) : this.provider.release(grant, timeout);
	}

	/**
	 * Handles the answer to a release.
	 * @param deadlineNanos the deadline of the grant before the release
	 */
	public void endRelease(HeldGrant heldGrant, long deadlineNanos, ReleaseOutcome outcome) {
		try {
			if (outcome == ReleaseOutcome.UNKNOWN) {
				logger
					.warn("Store '" + this.provider.name() + "' did not confirm the release of lock '" + heldGrant.key()
							+ (this.pendingReleases.isClosed() ? "'" : "'; it is repeated in the background")
							+ ", and the lock ends with its lease at the latest");
				addPending(heldGrant);
			}
			if (!loseAtRelease(heldGrant, deadlineNanos, outcome)) {
				this.events.released(heldGrant.holder());
			}
		}
		finally {
			end(heldGrant);
		}
	}

	/** Reports a loss if the release of a grant that had to be there has found none. */
	private boolean loseAtRelease(HeldGrant heldGrant, long deadlineNanos, ReleaseOutcome outcome) {
		if (outcome == ReleaseOutcome.NOT_HELD && !Nanos.isPast(deadlineNanos, nanoTime())
				&& heldGrant.loseAtRelease()) {
			this.events.lost(heldGrant.holder(), LossReason.NOT_HELD);
			return true;
		}
		return false;
	}

	/**
	 * Releases a grant whose hold has ended, without waiting for the answer, but tells
	 * what the store has answered, or that it has not within the call time-out.
	 * @return completed on a callback thread; does not fail
	 */
	CompletableFuture<Void> releaseAsync(HeldGrant heldGrant) {
		long deadline = heldGrant.deadlineNanos();
		return this.pendingReleases.releaseAsync(heldGrant.key(), () -> startRelease(heldGrant, endOfCall()),
				(outcome) -> endRelease(heldGrant, deadline, outcome));
	}

	/** Releases a grant whose hold has ended, without waiting for the answer. */
	void releaseInBackground(HeldGrant heldGrant) {
		try {
			addPending(heldGrant);
			this.events.released(heldGrant.holder());
		}
		finally {
			end(heldGrant);
		}
	}

	/** Releases a grant that nobody holds, without waiting for the answer. */
	public void releaseUnheld(HeldGrant heldGrant) {
		try {
			addPending(heldGrant);
		}
		finally {
			end(heldGrant);
		}
	}

	/** Ends a grant that was lost, and reports the loss once if somebody holds it. */
	public void lose(HeldGrant heldGrant, LossReason reason) {
		lost(heldGrant, reason, heldGrant.lose(reason));
	}

	/**
	 * Ends a grant whose deadline has passed.
	 * @param holdNumber the number of the hold whose deadline it was; a later hold is not
	 * affected
	 */
	public void expire(HeldGrant heldGrant, int holdNumber) {
		LossReason reason = heldGrant.reasonOfDeadline();
		lost(heldGrant, reason, heldGrant.lose(holdNumber, reason));
	}

	private void lost(HeldGrant heldGrant, LossReason reason, GrantState.LossEffect effect) {
		if (effect == GrantState.LossEffect.OFFER_ENDED && reason != LossReason.NOT_HELD) {
			// There is no handle whose end would release what may remain in the store.
			releaseUnheld(heldGrant);
		}
		else if (effect != GrantState.LossEffect.ALREADY_ENDED) {
			end(heldGrant);
		}
		if (effect == GrantState.LossEffect.HOLD_ENDED) {
			tellLoss(heldGrant, reason);
		}
	}

	private void tellLoss(HeldGrant heldGrant, LossReason reason) {
		for (GrantHandle hold : heldGrant.endHolds()) {
			this.events.lost(hold, reason);
		}
	}

	/** Releases what may remain in the store of a lost grant whose handle was closed. */
	void abandon(HeldGrant heldGrant) {
		if (heldGrant.abandon(nanoTime())) {
			addPending(heldGrant);
		}
	}

	/** Handles a renewal that the store confirmed after the local deadline. */
	public void renewedTooLate(HeldGrant heldGrant, int holdNumber) {
		expire(heldGrant, holdNumber);
		if (heldGrant.isAbandoned()) {
			addPending(heldGrant);
		}
	}

	/**
	 * Takes a lock away from its holder, and releases it in the store.
	 * @return whether it was held
	 */
	public boolean forceRelease(LockKey key) {
		return forceRelease(key, (heldGrant) -> heldGrant.lose(LossReason.FORCED));
	}

	/**
	 * Takes a grant away from its holder, and releases it in the store.
	 * @return whether it was held
	 */
	public boolean forceRelease(LockKey key, OwnerId owner) {
		return forceRelease(key, (heldGrant) -> heldGrant.grant().owner().equals(owner)
				? heldGrant.lose(LossReason.FORCED) : GrantState.LossEffect.ALREADY_ENDED);
	}

	/**
	 * Takes a lock away from the one hold that has a token, and releases it in the store.
	 * @return whether it was held with that token
	 */
	public boolean forceRelease(LockKey key, FencingToken token) {
		return forceRelease(key, (heldGrant) -> {
			int holdNumber = heldGrant.holdNumber();
			return heldGrant.token(holdNumber).equals(token) ? heldGrant.lose(holdNumber, LossReason.FORCED)
					: GrantState.LossEffect.ALREADY_ENDED;
		});
	}

	private boolean forceRelease(LockKey key, Function<HeldGrant, GrantState.LossEffect> loss) {
		boolean found = false;
		for (HeldGrant heldGrant : all()) {
			GrantState.LossEffect effect = heldGrant.key().equals(key) ? loss.apply(heldGrant)
					: GrantState.LossEffect.ALREADY_ENDED;
			if (effect != GrantState.LossEffect.ALREADY_ENDED) {
				found = true;
				releaseUnheld(heldGrant);
			}
			if (effect == GrantState.LossEffect.HOLD_ENDED) {
				tellLoss(heldGrant, LossReason.FORCED);
			}
		}
		return found;
	}

	private void addPending(HeldGrant heldGrant) {
		// The rest of the shortest hold is computed anew whenever the release is sent.
		this.pendingReleases.release(ShareKey.of(heldGrant.key(), heldGrant.permits()), heldGrant.storedFor(nanoTime()),
				Kind.SEEN_GRANT, (timeout) -> startRelease(heldGrant, nanoTime() + timeout.toNanos()));
	}

	private void end(HeldGrant heldGrant) {
		this.all.remove(heldGrant.grant().owner());
		heldGrant.queue().ended(heldGrant);
	}

}
