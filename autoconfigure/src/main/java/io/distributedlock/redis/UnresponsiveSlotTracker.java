package io.distributedlock.redis;

import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The slots whose node does not reply on the shared connection, which may seem open for
 * many minutes after packets were lost. A probe that is under way on that connection
 * shows when the node replies again.
 */
final class UnresponsiveSlotTracker {

	/** At most one per bucket. */
	private final Set<Integer> slots = ConcurrentHashMap.newKeySet();

	private final Runnable allResponsive;

	/**
	 * Creates a tracker without slots.
	 * @param allResponsive runs when the last slot is removed; must not block
	 */
	UnresponsiveSlotTracker(Runnable allResponsive) {
		this.allResponsive = allResponsive;
	}

	boolean contains(int slot) {
		return !this.slots.isEmpty() && this.slots.contains(slot);
	}

	/**
	 * Adds a slot until a probe ends.
	 * @param probe sends a command to the node of the slot; any end of it but a time-out
	 * of the client removes the slot, also a failure of the connection
	 */
	void add(int slot, Supplier<? extends CompletionStage<?>> probe) {
		if (this.slots.add(slot)) {
			send(slot, probe);
		}
	}

	/** Removes all slots, since the connection was closed that did not reply. */
	void clear() {
		if (!this.slots.isEmpty()) {
			this.slots.clear();
			this.allResponsive.run();
		}
	}

	private void send(int slot, Supplier<? extends CompletionStage<?>> probe) {
		try {
			probe.get().whenComplete((reply, ex) -> {
				if (ex != null && RedisErrors.isTimeout(ex) && this.slots.contains(slot)) {
					send(slot, probe);
				}
				else {
					remove(slot);
				}
			});
		}
		catch (RuntimeException ex) {
			remove(slot);
		}
		catch (Error ex) {
			// A slot without a probe would never be removed.
			remove(slot);
			throw ex;
		}
	}

	private void remove(int slot) {
		this.slots.remove(slot);
		if (this.slots.isEmpty()) {
			this.allResponsive.run();
		}
	}

}
