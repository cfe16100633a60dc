package io.distributedlock.redis.lettuce;

import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.LockTimer;
import io.distributedlock.redis.script.RedisErrors;

/**
 * The slots whose node does not reply on the shared connection, which may seem open for
 * many minutes after packets were lost, or refuses writes, since it has become a replica.
 * Probes on that connection show when the node serves locks again.
 */
final class UnresponsiveSlotTracker {

	private static final long REFUSAL_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final long BROKEN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	/** At most one per bucket. */
	private final Set<Integer> slots = ConcurrentHashMap.newKeySet();

	private final LockTimer timer;

	private final Runnable allResponsive;

	/**
	 * Creates a tracker without slots.
	 * @param timer waits before the next probe of a node that refuses writes
	 * @param allResponsive runs when the last slot is removed; must not block
	 */
	UnresponsiveSlotTracker(LockTimer timer, Runnable allResponsive) {
		this.timer = timer;
		this.allResponsive = allResponsive;
	}

	boolean isEmpty() {
		return this.slots.isEmpty();
	}

	boolean contains(int slot) {
		return !this.slots.isEmpty() && this.slots.contains(slot);
	}

	/**
	 * Adds a slot until a probe ends.
	 * @param probe sends a command to the node of the slot; any end of it but a time-out
	 * of the client, or the refusal of a replica, removes the slot, also a failure of the
	 * connection
	 * @param broken whether the client opens the connection again at present, and so may
	 * reject the probe
	 */
	void add(int slot, Supplier<? extends CompletionStage<?>> probe, BooleanSupplier broken) {
		if (this.slots.add(slot)) {
			send(slot, probe, broken);
		}
	}

	/** Removes all slots, since the connection was closed that did not reply. */
	void clear() {
		if (!this.slots.isEmpty()) {
			this.slots.clear();
			this.allResponsive.run();
		}
	}

	private void send(int slot, Supplier<? extends CompletionStage<?>> probe, BooleanSupplier broken) {
		try {
			probe.get().whenComplete((reply, ex) -> {
				long pauseNanos = pauseNanos(ex, broken);
				if (pauseNanos < 0 || !this.slots.contains(slot)
						|| this.timer.trySchedule(() -> send(slot, probe, broken), pauseNanos) == null) {
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

	/** The pause before the next probe; negative if there is none. */
	private static long pauseNanos(@Nullable Throwable ex, BooleanSupplier broken) {
		if (ex == null) {
			return -1;
		}
		if (RedisErrors.isTimeout(ex)) {
			return 0;
		}
		return RedisErrors.isReadOnly(ex) ? REFUSAL_NANOS : broken.getAsBoolean() ? BROKEN_NANOS : -1;
	}

	private void remove(int slot) {
		this.slots.remove(slot);
		if (this.slots.isEmpty()) {
			this.allResponsive.run();
		}
	}

}
