package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.OwnerId;

/**
 * The grants that were not seen on all nodes of a quorum when they counted, each with the
 * attempts on the other nodes. Its release needs them: a node that may run the attempt
 * later has to be asked again, and one that never received it has nothing to release. The
 * attempts go on until then: a node that is a little late keeps the lock too.
 * <p>
 * An entry ends with the release, or when an attempt cannot take effect any more.
 */
final class PartialGrants {

	/** Guarded by the monitor, oldest first. */
	private final Map<OwnerId, Part> parts = new LinkedHashMap<>();

	/** Adds a grant, unless all attempts were seen to succeed. */
	void add(OwnerId owner, List<NodeCall> attempts, Duration lease) {
		List<NodeCall> others = attempts.stream().filter((attempt) -> !attempt.hasGranted()).toList();
		if (!others.isEmpty()) {
			put(owner, others, lease);
		}
	}

	private synchronized void put(OwnerId owner, List<NodeCall> others, Duration lease) {
		Iterator<Part> oldest = this.parts.values().iterator();
		while (oldest.hasNext()
				&& (oldest.next().end().isPast() || this.parts.size() >= PendingNodeReleases.CAPACITY)) {
			oldest.remove();
		}
		this.parts.put(owner, new Part(others, PendingNodeReleases.giveUp(lease)));
	}

	/** Returns the attempts of an owner that were not seen to grant the lock. */
	synchronized List<NodeCall> find(OwnerId owner) {
		Part part = this.parts.get(owner);
		return (part != null) ? part.others() : List.of();
	}

	synchronized void remove(OwnerId owner) {
		this.parts.remove(owner);
	}

	synchronized int size() {
		return this.parts.size();
	}

	private record Part(List<NodeCall> others, Deadline end) {
	}

}
