package io.distributedlock.engine.release;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.PriorityQueue;

import org.jspecify.annotations.Nullable;

import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.release.PendingRelease.Kind;

/**
 * The pending releases of one node of the store. What was never sent is in the first
 * lane, grants that were seen before those that were not; what has to be repeated is in
 * the second. Guarded by the lock of the {@link PendingReleaseQueue}.
 */
final class NodeReleases {

	private final Deque<PendingRelease> seen = new ArrayDeque<>();

	private final Deque<PendingRelease> unseen = new ArrayDeque<>();

	private final PriorityQueue<PendingRelease> repeated = new PriorityQueue<>(
			(one, other) -> Long.signum(one.dueNanos - other.dueNanos));

	private int unseenUnderWay;

	private int firstUnderWay;

	private int repeatedUnderWay;

	/** Adds an entry that was never sent. */
	void add(PendingRelease entry) {
		((entry.kind == Kind.UNSEEN_GRANT) ? this.unseen : this.seen).add(entry);
	}

	/** Adds an entry that is sent again when it is due. */
	void repeat(PendingRelease entry) {
		this.repeated.add(entry);
	}

	/** Removes an entry that waits. */
	void remove(PendingRelease entry) {
		if (entry.sentBefore) {
			this.repeated.remove(entry);
		}
		else {
			((entry.kind == Kind.UNSEEN_GRANT) ? this.unseen : this.seen).remove(entry);
		}
	}

	/**
	 * Takes an entry that was never sent, whose grant was seen.
	 * @param limit how many may be under way
	 */
	@Nullable PendingRelease pollSeen(int limit) {
		PendingRelease entry = (this.firstUnderWay < limit) ? this.seen.poll() : null;
		if (entry != null) {
			this.firstUnderWay++;
			entry.underWay = true;
		}
		return entry;
	}

	/**
	 * Takes an entry that was never sent, whose grant was not seen. These leave room for
	 * the others.
	 * @param limit how many may be under way
	 */
	@Nullable PendingRelease pollUnseen(int limit) {
		PendingRelease entry = (this.firstUnderWay < limit && this.unseenUnderWay < limit - 1) ? this.unseen.poll()
				: null;
		if (entry != null) {
			this.firstUnderWay++;
			this.unseenUnderWay++;
			entry.underWay = true;
		}
		return entry;
	}

	/**
	 * Takes an entry that is due again.
	 * @param limit how many may be under way
	 */
	@Nullable PendingRelease pollRepeated(int limit, long nowNanos) {
		PendingRelease next = this.repeated.peek();
		if (next == null || this.repeatedUnderWay >= limit || !Nanos.isPast(next.dueNanos, nowNanos)) {
			return null;
		}
		this.repeated.remove();
		this.repeatedUnderWay++;
		next.underWay = true;
		return next;
	}

	/** Returns the entry that is due next, unless another one is under way before it. */
	@Nullable PendingRelease nextRepeated(int limit) {
		return (this.repeatedUnderWay < limit) ? this.repeated.peek() : null;
	}

	/** Records the end of the command of an entry. */
	void ended(PendingRelease entry) {
		if (entry.sentBefore) {
			this.repeatedUnderWay--;
		}
		else {
			this.firstUnderWay--;
			this.unseenUnderWay -= (entry.kind == Kind.UNSEEN_GRANT) ? 1 : 0;
		}
		entry.sentBefore = true;
		entry.underWay = false;
	}

	/** Whether each entry was sent once. */
	boolean areAllSent() {
		return this.firstUnderWay == 0 && this.seen.isEmpty() && this.unseen.isEmpty();
	}

	boolean isEmpty() {
		return areAllSent() && this.repeatedUnderWay == 0 && this.repeated.isEmpty();
	}

	/** Forgets what is not under way. */
	void clear() {
		this.seen.clear();
		this.unseen.clear();
		this.repeated.clear();
	}

}
