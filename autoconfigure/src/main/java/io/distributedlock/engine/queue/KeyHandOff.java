package io.distributedlock.engine.queue;

import io.distributedlock.FencingToken;
import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.event.GrantHandle;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.Hold;

/**
 * The hand-off of a key's grant from one hold to the next one of this process, which
 * costs no round trip. Its methods are called under the lock of the {@link KeyState},
 * unless they say otherwise.
 * <p>
 * A hold that ends offers the grant to the head of the waiters and wakes it. Until the
 * head has picked it up, requests that arrive may take it: they run already, and the lock
 * is not idle for the time that a thread needs to wake up. So that nobody starves, only
 * the head is passed over, a few times and for a short while. Whoever leaves the head of
 * the queue passes the offer on. An offer that nobody picks up ends with the release of
 * the grant.
 */
final class KeyHandOff {

	private final KeyState state;

	private final EngineContext engine;

	KeyHandOff(KeyState state) {
		this.state = state;
		this.engine = state.engine;
	}

	/**
	 * Ends a hold and offers its grant to the head.
	 * @return {@code false} if the hold has not ended
	 */
	boolean begin(HeldGrant grant, int holdNumber) {
		Waiter head = this.state.head();
		long now = this.engine.nanoTime();
		if (this.state.grant != grant || head == null || holdNumber >= FencingToken.MAX_HOLD_NUMBER
				|| !mayHave(head, grant, now)) {
			return false;
		}
		// What follows is kept before the offer: an offer that is not told would remain.
		GrantHandle holder = grant.holder();
		boolean[] offered = new boolean[1];
		this.state.lock.follow(() -> ended(holder, offered));
		if (holdNumber == 0) {
			// Once is enough: the last offer is made in the first half of this time.
			long delay = grant.grantedNanos() + this.engine.settings().maxHandOffNanos() * 2 - now;
			this.state.lock.follow(() -> endLater(grant, delay));
		}
		this.state.lock.follow(head::signal);
		offered[0] = grant.offer(holdNumber);
		if (offered[0]) {
			// The end of the last hold says nothing about the offer.
			grant.beginPart();
			offer(grant, head, now);
		}
		return offered[0];
	}

	private void ended(GrantHandle holder, boolean[] offered) {
		if (offered[0]) {
			this.engine.events().released(holder);
		}
	}

	private void endLater(HeldGrant grant, long delay) {
		try {
			this.engine.environment().schedule(() -> expire(grant), delay);
		}
		catch (RuntimeException | Error ex) {
			expire(grant);
			throw ex;
		}
	}

	private boolean mayHave(Waiter waiter, HeldGrant grant, long now) {
		return grant.suits(waiter.terms()) && grant.mayBeHandedOff(this.engine.settings().maxHandOffNanos(), now)
				&& !this.engine.stopState().isStopping();
	}

	/** Lets the head pick up the offer; one without a thread has it at once. */
	private void offer(HeldGrant grant, Waiter head, long now) {
		if (head.mayBlock() || !pickUp(grant, head, now)) {
			head.recordOffer(now);
		}
	}

	/**
	 * Gives the head the grant that is offered to it.
	 * @return whether the waiter is the head, and holds the lock
	 */
	boolean pickUpAsHead(Waiter waiter, long now) {
		HeldGrant grant = this.state.grant;
		if (grant == null || !grant.isOffered() || this.state.head() != waiter) {
			return false;
		}
		if (Nanos.isPast(grant.deadlineNanos(), now)) {
			int holdNumber = grant.holdNumber();
			this.state.lock.follow(() -> this.engine.heldGrants().expire(grant, holdNumber));
			return false;
		}
		return pickUp(grant, waiter, now);
	}

	/**
	 * Gives a request that arrives what is offered to the head, which has not woken up
	 * yet.
	 * @return whether the request has its outcome
	 */
	boolean pickUpOnArrival(Waiter waiter, long now) {
		HeldGrant grant = this.state.grant;
		Waiter head = this.state.head();
		if (grant == null || head == null || !grant.isOffered() || !head.mayBeOvertaken(now)
				|| !mayHave(waiter, grant, now) || !pickUp(grant, waiter, now)) {
			return false;
		}
		head.recordOvertake();
		return true;
	}

	/**
	 * Begins the hold of a waiter; fails if the grant was lost, whose end signals the
	 * head.
	 */
	private boolean pickUp(HeldGrant grant, Waiter waiter, long now) {
		Hold hold = new Hold(this.engine.heldGrants(), grant, grant.holdNumber(), waiter.requester(), now);
		if (waiter.isAlone()) {
			grant.beginHold(now, waiter.terms().maxHold());
		}
		else {
			grant.beginPart();
		}
		// Kept before the hold begins: one that nobody is told of would remain.
		boolean[] begun = new boolean[1];
		this.state.lock.follow(() -> begin(hold, waiter, begun));
		begun[0] = grant.pickUp();
		if (begun[0] && waiter.queued) {
			this.state.removeHolder(waiter);
		}
		return begun[0];
	}

	private void begin(Hold hold, Waiter waiter, boolean[] begun) {
		if (begun[0]) {
			this.engine.holdStart().beginHandedOff(hold, waiter);
		}
	}

	/**
	 * Offers the grant to the next waiter after the head has left; without one the offer
	 * ends.
	 */
	void headLeft() {
		HeldGrant grant = this.state.grant;
		if (grant == null || !grant.isOffered()) {
			return;
		}
		Waiter head = this.state.head();
		long now = this.engine.nanoTime();
		if (head != null && mayHave(head, grant, now)) {
			this.state.lock.follow(head::signal);
			offer(grant, head, now);
		}
		else {
			end(grant);
		}
	}

	/** Ends an offer that was not picked up. Called without the lock. */
	private void expire(HeldGrant grant) {
		this.state.lock.lock();
		try {
			if (this.state.grant == grant) {
				end(grant);
			}
		}
		finally {
			this.state.lock.unlock();
		}
	}

	private void end(HeldGrant grant) {
		if (grant.releaseOffered()) {
			this.state.lock.follow(() -> this.engine.heldGrants().releaseUnheld(grant));
		}
	}

}
