package io.distributedlock.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;

/**
 * The time, the order of events, and the dice of a simulation. Everything happens on one
 * thread, one event after the other, and every choice comes from the seed: the same seed
 * gives the same history.
 */
final class SimulatedWorld {

	private static final int REMEMBERED = 2_000;

	private final PriorityQueue<Event> events = new PriorityQueue<>(
			Comparator.comparingLong(Event::atNanos).thenComparingLong(Event::number));

	private final Random random;

	private final List<String> history = new ArrayList<>();

	private final List<String> violations = new ArrayList<>();

	/** When the store last granted a key, to whomever. */
	private final Map<LockKey, Long> grants = new HashMap<>();

	private long now = Duration.ofHours(1).toNanos();

	private long numbers;

	SimulatedWorld(long seed) {
		this.random = new Random(seed);
	}

	long now() {
		return this.now;
	}

	void recordGrant(LockKey key) {
		this.grants.put(key, this.now);
	}

	/** Returns when the store last granted a key, or {@code null} if it never did. */
	@Nullable Long lastGrant(LockKey key) {
		return this.grants.get(key);
	}

	/** Runs an action after a delay. */
	void after(long delayNanos, Runnable action) {
		this.events.add(new Event(this.now + Math.max(0, delayNanos), this.numbers++, action));
	}

	/** Runs the events up to an instant. */
	void runUntil(long instantNanos) {
		for (Event next = this.events.peek(); next != null
				&& next.atNanos() <= instantNanos; next = this.events.peek()) {
			this.events.remove();
			this.now = Math.max(this.now, next.atNanos());
			next.action().run();
		}
		this.now = Math.max(this.now, instantNanos);
	}

	/** Whether something with a probability happens. */
	boolean happens(double probability) {
		return this.random.nextDouble() < probability;
	}

	/** Returns a number from 0 to below a bound. */
	int choose(int bound) {
		return this.random.nextInt(bound);
	}

	double fraction() {
		return this.random.nextDouble();
	}

	/** Returns a duration of which short ones are more frequent. */
	long duration(Duration longest) {
		double fraction = this.random.nextDouble();
		return (long) (longest.toNanos() * fraction * fraction * fraction);
	}

	long nextLong() {
		return this.random.nextLong();
	}

	void record(String event) {
		if (this.history.size() < REMEMBERED) {
			this.history.add(Duration.ofNanos(this.now).toMillis() - Duration.ofHours(1).toMillis() + " " + event);
		}
	}

	void check(boolean holds, String promise, String details) {
		if (!holds) {
			record("VIOLATED " + promise + ": " + details);
			this.violations.add(promise + ": " + details);
		}
	}

	List<String> violations() {
		return this.violations;
	}

	List<String> history() {
		return this.history;
	}

	private record Event(long atNanos, long number, Runnable action) {
	}

}
