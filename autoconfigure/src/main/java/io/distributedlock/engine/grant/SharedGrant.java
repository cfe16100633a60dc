package io.distributedlock.engine.grant;

import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

import io.distributedlock.engine.event.GrantHandle;
import io.distributedlock.provider.LockGrant;

/**
 * A share of this process that several holds have at a time: further requests may join
 * it. The hold that leaves last releases it, and a loss ends it for all.
 * <p>
 * Invariants: a hold is counted from when it joins until it leaves, and nothing joins a
 * grant whose last hold has left; each hold is told one end, a loss or that it has left.
 */
public final class SharedGrant extends HeldGrant {

	/** The holds that have not left, with whether none of them was told a loss yet. */
	private final ConcurrentMap<GrantHandle, Boolean> holds = new ConcurrentHashMap<>(4);

	private final AtomicInteger count = new AtomicInteger(1);

	/**
	 * Creates a grant for its first hold.
	 * @param terms the terms of the request that gets the grant
	 * @param sentNanos when the attempt was sent
	 * @param grantedNanos when its answer arrived
	 * @param queue the queue of the key
	 */
	public SharedGrant(LockGrant grant, LockTerms terms, long sentNanos, long grantedNanos, GrantQueue queue) {
		super(grant, terms, terms.lease(), sentNanos, grantedNanos, queue);
	}

	/** Whether a grant on these terms may be joined: it has no end of its own. */
	public static boolean isPossible(LockTerms terms) {
		return terms.permits() == Integer.MAX_VALUE && terms.renew() && terms.maxHold() == null;
	}

	@Override
	void heldBy(GrantHandle holder) {
		if (this.holds.isEmpty()) {
			super.heldBy(holder);
			this.holds.put(holder, true);
		}
	}

	/**
	 * Adds a hold, unless the last one has left or the grant was lost.
	 * @return whether the hold has the grant, or was told that it is lost
	 */
	public boolean join(GrantHandle hold) {
		// Before the look at the state: whoever loses the grant after it tells this hold.
		this.holds.put(hold, true);
		if (isCurrent() && this.count.getAndUpdate((present) -> (present > 0) ? present + 1 : 0) > 0) {
			return true;
		}
		return !this.holds.remove(hold, true);
	}

	@Override
	boolean leave(GrantHandle hold) {
		if (this.count.decrementAndGet() == 0) {
			super.heldBy(hold);
			return false;
		}
		this.holds.remove(hold, true);
		return true;
	}

	@Override
	boolean has(GrantHandle hold) {
		return this.holds.containsKey(hold);
	}

	@Override
	public Collection<GrantHandle> holds() {
		return this.holds.keySet();
	}

	@Override
	Collection<GrantHandle> endHolds() {
		return this.holds.keySet().stream().filter((hold) -> this.holds.replace(hold, true, false)).toList();
	}

}
