package io.distributedlock.redis;

import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Which parts of the store the shared connection gets no answers from: after a packet was
 * lost for good it may look sound for many minutes. A question that is still under way
 * there tells when it speaks again.
 */
final class UnresponsiveSlotTracker {

	/** No more than there are buckets. */
	private final Set<Integer> silent = ConcurrentHashMap.newKeySet();

	private final Runnable allSpeak;

	/**
	 * Starts with none.
	 * @param allSpeak told when there are none any more; must not block
	 */
	UnresponsiveSlotTracker(Runnable allSpeak) {
		this.allSpeak = allSpeak;
	}

	boolean contains(int slot) {
		return !this.silent.isEmpty() && this.silent.contains(slot);
	}

	/**
	 * A slot did not answer in time.
	 * @param question asks it something; that the question failed with its connection is
	 * an answer too, and that the client has waited for it long enough is none
	 */
	void add(int slot, Supplier<? extends CompletionStage<?>> question) {
		if (this.silent.add(slot)) {
			ask(slot, question);
		}
	}

	private void ask(int slot, Supplier<? extends CompletionStage<?>> question) {
		try {
			question.get().whenComplete((answer, ex) -> {
				if (ex != null && RedisErrors.isTimeout(ex)) {
					ask(slot, question);
				}
				else {
					remove(slot);
				}
			});
		}
		catch (RuntimeException ex) {
			remove(slot);
		}
	}

	private void remove(int slot) {
		this.silent.remove(slot);
		if (this.silent.isEmpty()) {
			this.allSpeak.run();
		}
	}

}
