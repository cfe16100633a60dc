package io.distributedlock.engine.queue;

import io.distributedlock.engine.concurrent.StopState;
import io.distributedlock.engine.event.AcquireObservation;
import io.distributedlock.engine.event.LockEventPublisher;
import io.distributedlock.engine.grant.EngineFailures;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.HeldGrants;
import io.distributedlock.engine.grant.Hold;
import io.distributedlock.engine.grant.LockTerms;
import io.distributedlock.engine.grant.RequestOutcome;
import io.distributedlock.engine.renewal.ExpiryWatch;
import io.distributedlock.engine.renewal.RenewalScheduler;
import io.distributedlock.provider.AcquireOutcome;

/**
 * The beginning of each hold: its renewal and the watch over its deadline are registered
 * before the requester sees the handle.
 */
public final class HoldStart {

	private final HeldGrants heldGrants;

	private final RenewalScheduler renewals;

	private final ExpiryWatch expiryWatch;

	private final EngineFailures failures;

	private final StopState stopState;

	public HoldStart(HeldGrants heldGrants, RenewalScheduler renewals, ExpiryWatch expiryWatch, EngineFailures failures,
			StopState stopState) {
		this.heldGrants = heldGrants;
		this.renewals = renewals;
		this.expiryWatch = expiryWatch;
		this.failures = failures;
		this.stopState = stopState;
	}

	/**
	 * Begins the hold of a grant that is current in its queue already. A hold that finds
	 * its requester gone is released.
	 */
	void begin(Hold hold, Waiter waiter) {
		try {
			register(hold, waiter);
		}
		catch (RuntimeException | Error ex) {
			fail(hold, waiter, ex);
			return;
		}
		give(hold, waiter);
	}

	/** The requester is told its outcome whatever happens. */
	private static void fail(Hold hold, Waiter waiter, Throwable failure) {
		hold.heldGrant().forgetMinHold();
		try {
			hold.endWithoutHandOff();
		}
		finally {
			waiter.complete(new RequestOutcome.Failed(failure));
			waiter.signal();
		}
	}

	private void register(Hold hold, Waiter waiter) {
		HeldGrant heldGrant = hold.heldGrant();
		this.renewals.schedule(heldGrant);
		this.heldGrants.add(heldGrant);
		publish(hold, waiter);
		this.renewals.register(heldGrant);
		this.expiryWatch.watch(heldGrant);
	}

	/**
	 * Begins a hold that was handed off. Its grant is registered again: each hold has its
	 * own end. A hold that finds its requester gone is released.
	 */
	void beginHandedOff(Hold hold, Waiter waiter) {
		try {
			this.heldGrants.events().handedOff(hold.key());
			publish(hold, waiter);
			this.renewals.register(hold.heldGrant());
			this.expiryWatch.watch(hold.heldGrant());
		}
		catch (RuntimeException | Error ex) {
			fail(hold, waiter, ex);
			return;
		}
		give(hold, waiter);
	}

	private void publish(Hold hold, Waiter waiter) {
		LockEventPublisher events = this.heldGrants.events();
		AcquireObservation request = waiter.observation();
		if (request != null && !this.stopState.isStopping() && !waiter.isComplete()) {
			request.end(AcquireOutcome.ACQUIRED, null);
		}
		events.holdBegan(hold, request);
	}

	private void give(Hold hold, Waiter waiter) {
		if (this.stopState.isStopping()) {
			fail(hold, waiter, this.failures.shuttingDown(hold.key()));
			return;
		}
		if (!waiter.complete(new RequestOutcome.Acquired(hold))) {
			hold.lease().closeUnused();
		}
		waiter.signal();
	}

	/** Renews a grant soon, because the store has to keep it for longer. */
	void renewSoon(HeldGrant heldGrant) {
		heldGrant.scheduleRenewal(this.heldGrants.nanoTime());
		this.renewals.register(heldGrant);
	}

	/**
	 * Begins the hold that the requester of several keys asked for, with its last key.
	 */
	void beginRequested(HeldGrant heldGrant, long startNanos, LockTerms terms) {
		heldGrant.beginHold(startNanos, terms.maxHold());
		this.expiryWatch.watch(heldGrant);
	}

}
