package io.distributedlock.engine.release;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.PriorityQueue;

import org.jspecify.annotations.Nullable;

import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.release.PendingRelease.Kind;

/**
 * The pending releases of one node of the store, and the order in which they are sent.
 * What was never sent goes at once, grants that were seen before those that were not.
 * What is repeated has a share of its own and a pause for each entry. Each node has its
 * own shares, so that one that does not answer holds up no other. Guarded by the lock of
 * the {@link PendingReleaseQueue}.
 */
final class NodeReleases {

	/** How many entries that were never sent may be under way. */
	private final int firstLimit;

	/** How many entries that are repeated may be under way. */
	private final int repeatedLimit;

	private final Deque<PendingRelease> seen = new ArrayDeque<>();

	private final Deque<PendingRelease> unseen = new ArrayDeque<>();

	private final PriorityQueue<PendingRelease> repeated = new PriorityQueue<>(
			(one, other) -> Long.signum(one.dueNanos - other.dueNanos));

	private int firstUnderWay;

	private int unseenUnderWay;

	private int repeatedUnderWay;

	/**
	 * Creates the releases of a node.
	 * @param blocking whether each command occupies a thread
	 */
	NodeReleases(boolean blocking) {
		this.firstLimit = blocking ? 2 : 32;
		this.repeatedLimit = blocking ? 1 : 32;
	}

	/** Adds an entry, which is sent at once, or when it is due again. */
	void add(PendingRelease entry) {
		entry.waitsIn = entry.sentBefore ? this.repeated : (entry.kind == Kind.UNSEEN_GRANT) ? this.unseen : this.seen;
		entry.waitsIn.add(entry);
	}

	/** Takes an entry that is to be sent now, if there is one and room for it. */
	@Nullable PendingRelease poll(long nowNanos) {
		PendingRelease entry = null;
		if (this.firstUnderWay < this.firstLimit) {
			entry = this.seen.poll();
			// These leave room for the others.
			if (entry == null && this.unseenUnderWay < this.firstLimit - 1) {
				entry = this.unseen.poll();
			}
		}
		if (entry == null) {
			PendingRelease next = nextRepeated();
			entry = (next != null && Nanos.isPast(next.dueNanos, nowNanos)) ? this.repeated.poll() : null;
		}
		if (entry != null) {
			entry.waitsIn = null;
			countUnderWay(entry, 1);
		}
		return entry;
	}

	/** Returns the entry that is due next, unless another one has to end before it. */
	@Nullable PendingRelease nextRepeated() {
		return (this.repeatedUnderWay < this.repeatedLimit) ? this.repeated.peek() : null;
	}

	private void countUnderWay(PendingRelease entry, int change) {
		if (entry.sentBefore) {
			this.repeatedUnderWay += change;
		}
		else {
			this.firstUnderWay += change;
			this.unseenUnderWay += (entry.kind == Kind.UNSEEN_GRANT) ? change : 0;
		}
	}

	/** Records the end of the command of an entry. */
	void ended(PendingRelease entry) {
		countUnderWay(entry, -1);
		entry.sentBefore = true;
	}

	/** Whether each entry was sent once. */
	boolean areAllSent() {
		return this.firstUnderWay == 0 && this.seen.isEmpty() && this.unseen.isEmpty();
	}

	boolean isEmpty() {
		return areAllSent() && this.repeatedUnderWay == 0 && this.repeated.isEmpty();
	}

}
