package io.distributedlock.engine.queue;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockMode;
import io.distributedlock.engine.event.AcquireObservation;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.HeldGrants;
import io.distributedlock.engine.grant.Hold;
import io.distributedlock.engine.grant.LockTerms;
import io.distributedlock.engine.renewal.ExpiryWatch;
import io.distributedlock.engine.renewal.RenewalScheduler;

/**
 * The beginning of each hold: its renewal and the watch over its deadline are registered
 * before the requester sees the handle.
 */
public final class HoldStart {

	private final HeldGrants heldGrants;

	private final RenewalScheduler renewals;

	private final ExpiryWatch expiryWatch;

	public HoldStart(HeldGrants heldGrants, RenewalScheduler renewals, ExpiryWatch expiryWatch) {
		this.heldGrants = heldGrants;
		this.renewals = renewals;
		this.expiryWatch = expiryWatch;
	}

	/** Registers a grant, which has its first hold. */
	void keep(HeldGrant heldGrant) {
		this.renewals.schedule(heldGrant);
		this.heldGrants.add(heldGrant);
	}

	/**
	 * Registers the first hold of a grant, which is current in its queue already, or one
	 * that has joined it. A share is kept since it was granted.
	 */
	void register(Hold hold, @Nullable AcquireObservation request) {
		if (hold.heldGrant().mode() == LockMode.EXCLUSIVE) {
			keep(hold.heldGrant());
		}
		watch(hold, request);
	}

	/**
	 * Registers a hold that was handed off, and with it its grant once more: each hold
	 * has its own end.
	 */
	void registerHandedOff(Hold hold, @Nullable AcquireObservation request) {
		this.heldGrants.events().handedOff(hold.key());
		watch(hold, request);
	}

	private void watch(Hold hold, @Nullable AcquireObservation request) {
		this.heldGrants.events().holdBegan(hold, request);
		this.renewals.register(hold.heldGrant());
		this.expiryWatch.watch(hold.heldGrant());
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
