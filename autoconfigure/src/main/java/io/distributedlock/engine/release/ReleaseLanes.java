package io.distributedlock.engine.release;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * The order in which pending releases are sent, in two lanes. What was never sent goes at
 * once. What is repeated has a share of its own and a pause for each entry. Of both lanes
 * each node of the store has a share too, so that one that does not answer holds up
 * nothing else. Guarded by the lock of the {@link PendingReleaseQueue}.
 */
final class ReleaseLanes {

	private final Limits limits;

	/** The nodes with entries, in the order of their turns. */
	private final Map<Object, NodeReleases> nodes = new LinkedHashMap<>();

	private int firstUnderWay;

	private int repeatedUnderWay;

	private @Nullable PendingRelease nextRepeated;

	/**
	 * Creates empty lanes.
	 * @param blocking whether each command occupies a thread
	 */
	ReleaseLanes(boolean blocking) {
		this.limits = blocking ? Limits.BLOCKING : Limits.ASYNCHRONOUS;
	}

	/** Adds an entry that was never sent. */
	void add(PendingRelease entry) {
		node(entry).add(entry);
	}

	/** Adds an entry that is sent again when it is due. */
	void repeat(PendingRelease entry) {
		node(entry).repeat(entry);
	}

	private NodeReleases node(PendingRelease entry) {
		return this.nodes.computeIfAbsent(entry.node, (absent) -> new NodeReleases());
	}

	/** Removes an entry, unless it is under way. */
	void remove(PendingRelease entry) {
		NodeReleases node = this.nodes.get(entry.node);
		if (node != null) {
			if (!entry.underWay) {
				node.remove(entry);
			}
			if (node.isEmpty()) {
				this.nodes.remove(entry.node);
			}
		}
	}

	/** Takes an entry that is to be sent now, if the lanes have room. */
	@Nullable PendingRelease poll(long nowNanos) {
		this.nextRepeated = null;
		PendingRelease entry = pollFirst();
		return (entry != null) ? entry : pollRepeated(nowNanos);
	}

	private @Nullable PendingRelease pollFirst() {
		if (this.firstUnderWay >= this.limits.first()) {
			return null;
		}
		PendingRelease entry = pollNodes((node) -> node.pollSeen(this.limits.firstOfNode()));
		if (entry == null) {
			entry = pollNodes((node) -> node.pollUnseen(this.limits.firstOfNode()));
		}
		this.firstUnderWay += (entry != null) ? 1 : 0;
		return entry;
	}

	private @Nullable PendingRelease pollRepeated(long nowNanos) {
		if (this.repeatedUnderWay >= this.limits.repeated()) {
			return null;
		}
		PendingRelease entry = pollNodes((node) -> node.pollRepeated(this.limits.repeatedOfNode(), nowNanos));
		if (entry != null) {
			this.repeatedUnderWay++;
			return entry;
		}
		for (NodeReleases node : this.nodes.values()) {
			PendingRelease later = node.nextRepeated(this.limits.repeatedOfNode());
			PendingRelease earliest = this.nextRepeated;
			if (later != null && (earliest == null || later.dueNanos - earliest.dueNanos < 0)) {
				this.nextRepeated = later;
			}
		}
		return null;
	}

	/** Takes an entry of the first node that has one; the node is the last one then. */
	private @Nullable PendingRelease pollNodes(Function<NodeReleases, @Nullable PendingRelease> poll) {
		for (NodeReleases node : this.nodes.values()) {
			PendingRelease entry = poll.apply(node);
			if (entry != null) {
				this.nodes.remove(entry.node);
				this.nodes.put(entry.node, node);
				return entry;
			}
		}
		return null;
	}

	/** Returns the entry that is due next, after nothing was to be sent. */
	@Nullable PendingRelease nextRepeated() {
		return this.nextRepeated;
	}

	/** Records the end of the command of an entry. */
	void ended(PendingRelease entry) {
		if (entry.sentBefore) {
			this.repeatedUnderWay--;
		}
		else {
			this.firstUnderWay--;
		}
		node(entry).ended(entry);
	}

	/** Whether each entry was sent once. */
	boolean areAllSent() {
		return this.nodes.values().stream().allMatch(NodeReleases::areAllSent);
	}

	/** Forgets what is not under way. */
	void clear() {
		this.nodes.values().forEach(NodeReleases::clear);
	}

	/**
	 * How many commands are under way at a time.
	 *
	 * @param first those of the first lane
	 * @param firstOfNode those of the first lane to one node
	 * @param repeated those of the second lane
	 * @param repeatedOfNode those of the second lane to one node
	 */
	private record Limits(int first, int firstOfNode, int repeated, int repeatedOfNode) {

		static final Limits BLOCKING = new Limits(3, 2, 2, 1);

		static final Limits ASYNCHRONOUS = new Limits(64, 32, 64, 32);

	}

}
