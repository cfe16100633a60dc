package com.example.maplock;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

import io.distributedlock.provider.OwnerId;

/**
 * State of one key: held, reserved or free, and the queue of waiting processes.
 * Guarded by the monitor of the store.
 */
final class MapEntry {

	private static final long GRACE_NANOS = Duration.ofMillis(100).toNanos();

	private static final Runnable NO_SIGNAL = () -> {
		// No process waits.
	};

	/** First contender of each process in the order of arrival. */
	private final Map<Object, MapContender> queue = new LinkedHashMap<>();

	private OwnerId owner;

	private Object holder;

	private boolean kept;

	private MapContender reservedFor;

	private long order;

	private long grantedNanos;

	/** End of the lease, of the time for which the key is kept, or of the reservation. */
	private long endNanos;

	private boolean isPast() {
		return this.endNanos - System.nanoTime() <= 0;
	}

	private boolean isHeld() {
		return this.owner != null && !isPast();
	}

	/** Whether nobody may have the key for the rest of a shortest hold. */
	boolean isKept() {
		return this.kept && !isPast();
	}

	private boolean isReserved() {
		return this.reservedFor != null && !isPast();
	}

	boolean isEmpty() {
		return !isHeld() && !isKept() && !isReserved() && this.queue.isEmpty();
	}

	boolean isHeldBy(OwnerId other) {
		return isHeld() && this.owner.equals(other);
	}

	boolean isFreeFor(MapContender contender) {
		return !isHeld() && !isKept() && !(isReserved() && this.reservedFor.process() != contender.process());
	}

	long order() {
		return this.order;
	}

	Duration remaining() {
		return Duration.ofNanos(Math.max(1, this.endNanos - System.nanoTime()));
	}

	Duration heldFor() {
		return Duration.ofNanos(System.nanoTime() - this.grantedNanos);
	}

	void enqueue(MapContender contender) {
		this.queue.putIfAbsent(contender.process(), contender);
	}

	void grant(OwnerId newOwner, Duration lease, MapContender contender, long newOrder) {
		this.owner = newOwner;
		this.kept = false;
		this.holder = contender.process();
		this.order = newOrder;
		this.reservedFor = null;
		this.queue.remove(this.holder);
		this.grantedNanos = System.nanoTime();
		this.endNanos = this.grantedNanos + lease.toNanos();
	}

	boolean renew(OwnerId other, Duration lease) {
		if (!isHeldBy(other)) {
			return false;
		}
		this.endNanos = System.nanoTime() + lease.toNanos();
		return true;
	}

	boolean expire() {
		boolean held = isHeld() || isKept();
		this.endNanos = System.nanoTime();
		return held;
	}

	/** Releases the key and returns the signal to run after the step. */
	Runnable release(Duration keepFor) {
		this.queue.remove(this.holder);
		this.owner = null;
		if (!keepFor.isZero()) {
			this.kept = true;
			this.endNanos = System.nanoTime() + keepFor.toNanos();
			return NO_SIGNAL;
		}
		return reserve();
	}

	/** Removes a contender and returns the signal to run after the step. */
	Runnable withdraw(MapContender contender) {
		this.queue.remove(contender.process(), contender);
		return (isReserved() && this.reservedFor.equals(contender)) ? reserve() : NO_SIGNAL;
	}

	private Runnable reserve() {
		Iterator<MapContender> contenders = this.queue.values().iterator();
		this.reservedFor = contenders.hasNext() ? contenders.next() : null;
		this.endNanos = System.nanoTime();
		if (this.reservedFor == null) {
			return NO_SIGNAL;
		}
		contenders.remove();
		this.endNanos += GRACE_NANOS;
		return this.reservedFor.changed();
	}

}
