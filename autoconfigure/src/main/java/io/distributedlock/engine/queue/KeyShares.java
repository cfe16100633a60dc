package io.distributedlock.engine.queue;

import org.jspecify.annotations.Nullable;

import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.Hold;
import io.distributedlock.engine.grant.LockTerms;
import io.distributedlock.engine.grant.SharedGrant;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;

/**
 * The shares of this process in a {@link KeyQueue} for shares with one limit. They do not
 * keep the head from asking the store for a further one. Guarded by the lock of the
 * queue.
 * <p>
 * Invariants: the queue has no grant of its own and stays open while there are shares;
 * {@link #joinable} is the last of them or nothing.
 */
final class KeyShares {

	private final KeyQueue queue;

	/** The most shares that there may be with one of these. */
	final int limit;

	/** How many grants have not ended. */
	private int count;

	/**
	 * The grant that requests may join while it is as young as a grant that is handed
	 * off: so other processes get their turns.
	 */
	private @Nullable SharedGrant joinable;

	KeyShares(KeyQueue queue, int limit) {
		this.queue = queue;
		this.limit = limit;
	}

	/** Creates the contender of a queue, for shares or for the whole key. */
	static LockContender newContender(KeyQueue queue) {
		KeyShares shares = queue.shares;
		return (shares != null) ? queue.engine().provider().newShareContender(queue.key, shares.limit, queue::notified)
				: queue.engine().provider().newContender(queue.key, queue::notified);
	}

	/** Creates the grant of a queue, for shares or for the whole key. */
	static HeldGrant newGrant(KeyQueue queue, LockGrant granted, StoreAttempt current, KeyRequest next, long now) {
		LockTerms terms = next.terms();
		HeldGrant grant = SharedGrant.isPossible(terms)
				? new SharedGrant(granted, terms, current.sentNanos(), now, queue)
				: new HeldGrant(granted, terms, current.lease(), current.sentNanos(), now, queue);
		if (next.isAlone()) {
			grant.beginHold(current.sentNanos(), terms.maxHold());
		}
		return grant;
	}

	boolean isEmpty() {
		return this.count == 0;
	}

	/**
	 * Has a grant renewed, and its loss told, before its first hold begins: those who
	 * join it may be faster than the requester of that one.
	 */
	void keep(HeldGrant grant) {
		this.queue.engine().holdStart().keep(grant);
		this.count++;
	}

	/** Lets the requests that wait join a grant that has begun, as far as they may. */
	void began(HeldGrant grant, long now) {
		this.joinable = (grant instanceof SharedGrant shared) ? shared : null;
		KeyRequest request = this.queue.head();
		while (request != null && this.joinable != null) {
			KeyRequest next = request.next;
			join(request, now);
			request = next;
		}
		letHeadAsk();
	}

	/** Lets the next attempt follow at once: another share may be free. */
	private void letHeadAsk() {
		if (this.queue.head() != null) {
			this.queue.contest().pacing().recordEnd();
		}
	}

	/**
	 * Gives a request a further hold of the share that this process has.
	 * @return {@code false} if there is none that it may join
	 */
	boolean join(KeyRequest request, long now) {
		SharedGrant shared = this.joinable;
		EngineContext engine = this.queue.engine();
		if (shared == null || !SharedGrant.isPossible(request.terms()) || !shared.suits(request.terms())
				|| engine.stopState().isStopping()) {
			return false;
		}
		if (!shared.mayBeHandedOff(engine.settings().maxHandOffNanos(), now)) {
			this.joinable = null;
			return false;
		}
		Hold hold = new Hold(engine.heldGrants(), shared, 0, request.requester(), now);
		// Kept before the hold begins: one that nobody is told of would remain.
		boolean[] joined = new boolean[1];
		this.queue.mutex.follow(() -> {
			if (joined[0]) {
				request.begin(hold);
			}
		});
		joined[0] = shared.join(hold);
		if (!joined[0]) {
			this.joinable = null;
		}
		else if (request.queued) {
			this.queue.removeHolder(request);
		}
		return joined[0];
	}

	/** Handles the end of a share: the head may have the next one. */
	void ended(HeldGrant grant) {
		this.count--;
		if (this.joinable == grant) {
			this.joinable = null;
		}
		letHeadAsk();
		this.queue.signalHeadOrClose();
	}

}
