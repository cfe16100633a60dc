package io.distributedlock.engine.queue;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.event.GrantHandle;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.Hold;

/**
 * The hand-off of a grant from one hold to the next one of this process, which costs no
 * round trip. Guarded by the lock of the {@link KeyQueue}: methods are called under it,
 * unless they say otherwise.
 * <p>
 * A hold that ends offers the grant to the head of the waiters and wakes it. Until the
 * head has picked it up, requests that arrive may take it: they run already, and the lock
 * is not idle for the time that a thread needs to wake up. So that nobody starves, only
 * the head is passed over, a few times and for a short while. Whoever leaves the head of
 * the queue passes the offer on. An offer that nobody picks up ends with the release of
 * the grant.
 *
 * @param queue the queue of the key
 * @param grant its present grant
 */
record HandOff(KeyQueue queue, HeldGrant grant) {

	/**
	 * Ends a hold and offers its grant to the head.
	 * @return {@code false} if the hold has not ended
	 */
	boolean offer(int holdNumber) {
		KeyRequest first = head();
		long now = this.queue.engine().nanoTime();
		if (first == null || holdNumber >= FencingToken.MAX_HOLD_NUMBER || !mayHave(first, now)) {
			return false;
		}
		// What follows is kept before the offer: an offer that is not told would remain.
		GrantHandle holder = this.grant.holder();
		boolean[] offered = new boolean[1];
		this.queue.mutex.follow(() -> released(holder, offered));
		if (holdNumber == 0) {
			// Once is enough: the last offer is made in the first half of this time.
			long delay = this.grant.grantedNanos() + this.queue.engine().settings().maxHandOffNanos() * 2 - now;
			this.queue.mutex.follow(() -> endLater(delay));
		}
		this.queue.mutex.follow(first::signal);
		offered[0] = this.grant.offer(holdNumber);
		if (offered[0]) {
			// The end of the last hold says nothing about the offer.
			this.grant.beginPart();
			offerTo(first, now);
		}
		return offered[0];
	}

	private void released(GrantHandle holder, boolean[] offered) {
		if (offered[0]) {
			this.queue.engine().events().released(holder);
		}
	}

	private boolean mayHave(KeyRequest request, long now) {
		return this.grant.suits(request.terms())
				&& this.grant.mayBeHandedOff(this.queue.engine().settings().maxHandOffNanos(), now)
				&& !this.queue.engine().stopState().isStopping();
	}

	private @Nullable KeyRequest head() {
		return this.queue.head();
	}

	/** Lets the head pick up the offer; one without a thread has it at once. */
	private void offerTo(KeyRequest first, long now) {
		if (first.mayBlock() || !pickUp(first, now)) {
			first.recordOffer(now);
		}
	}

	/** Gives the head the grant that is offered to it. */
	boolean pickUpAsHead(KeyRequest request, long now) {
		if (!this.grant.isOffered() || head() != request) {
			return false;
		}
		if (Nanos.isPast(this.grant.deadlineNanos(), now)) {
			int holdNumber = this.grant.holdNumber();
			this.queue.mutex.follow(() -> this.queue.engine().heldGrants().expire(this.grant, holdNumber));
			return false;
		}
		return pickUp(request, now);
	}

	/**
	 * Gives a request that arrives what is offered to the head, which has not woken up
	 * yet.
	 */
	boolean pickUpOnArrival(KeyRequest request, long now) {
		KeyRequest first = head();
		if (first == null || !this.grant.isOffered() || !first.mayBeOvertaken(now) || !mayHave(request, now)
				|| !pickUp(request, now)) {
			return false;
		}
		first.recordOvertake();
		return true;
	}

	/**
	 * Begins the hold of a request; fails if the grant was lost, whose end signals the
	 * head.
	 */
	private boolean pickUp(KeyRequest request, long now) {
		Hold hold = new Hold(this.queue.engine().heldGrants(), this.grant, this.grant.holdNumber(), request.requester(),
				now);
		if (request.isAlone()) {
			this.grant.beginHold(now, request.terms().maxHold());
		}
		else {
			this.grant.beginPart();
		}
		// Kept before the hold begins: one that nobody is told of would remain.
		boolean[] begun = new boolean[1];
		this.queue.mutex.follow(() -> beginHandedOff(hold, request, begun));
		begun[0] = this.grant.pickUp();
		if (begun[0] && request.queued) {
			this.queue.removeHolder(request);
		}
		return begun[0];
	}

	private void beginHandedOff(Hold hold, KeyRequest request, boolean[] begun) {
		if (begun[0]) {
			request.begin(hold);
		}
	}

	/**
	 * Offers the grant to the next waiter after the head has left; without one the offer
	 * ends.
	 */
	void passOn() {
		if (!this.grant.isOffered()) {
			return;
		}
		KeyRequest first = head();
		long now = this.queue.engine().nanoTime();
		if (first != null && mayHave(first, now)) {
			this.queue.mutex.follow(first::signal);
			offerTo(first, now);
		}
		else {
			end();
		}
	}

	private void endLater(long delay) {
		try {
			this.queue.engine().environment().schedule(this::expire, delay);
		}
		catch (RuntimeException | Error ex) {
			expire();
			throw ex;
		}
	}

	private void expire() {
		this.queue.mutex.lock();
		try {
			if (this.queue.grant() == this.grant) {
				end();
			}
		}
		finally {
			this.queue.mutex.unlock();
		}
	}

	private void end() {
		if (this.grant.releaseOffered()) {
			this.queue.mutex.follow(() -> this.queue.engine().heldGrants().releaseUnheld(this.grant));
		}
	}

}
