package io.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;

/**
 * The time, the order of events, and the dice of a simulation. Everything happens on one
 * thread, one event after the other, and every choice comes from the seed: the same seed
 * gives the same history.
 */
final class SimulatedWorld {

	private static final int REMEMBERED = 2_000;

	/** More events than any simulation needs. */
	private static final long MOST_EVENTS = 1_000_000;

	/** How often one event may look at the clock: an engine that spins looks again. */
	private static final int MOST_LOOKS = 100_000;

	private final PriorityQueue<Event> events = new PriorityQueue<>(
			Comparator.comparingLong(Event::atNanos).thenComparingLong(Event::number));

	/** Unlike that of {@code Random}, its first number differs much from seed to seed. */
	private final SplittableRandom random;

	private final List<String> history = new ArrayList<>();

	private final List<String> violations = new ArrayList<>();

	/** When the store last granted a key, to whomever. */
	private final Map<LockKey, Long> grants = new HashMap<>();

	/** How many processes wait for a key. */
	private final Map<LockKey, Integer> waiting = new HashMap<>();

	/** How many shares were granted since a process waits for the whole key. */
	private final Map<LockKey, Map<SimulatedProcess, Integer>> overtaken = new HashMap<>();

	/** Since when a key is free for which processes wait. */
	private final Map<LockKey, Long> freeSince = new HashMap<>();

	private long now = Duration.ofHours(1).toNanos();

	private long numbers;

	private int looks;

	private Runnable invariant = () -> {
	};

	private final ShortestHolds shortestHolds = new ShortestHolds(this);

	SimulatedWorld(long seed) {
		this.random = new SplittableRandom(seed);
	}

	/**
	 * Returns the present.
	 * @throws IllegalStateException if one event asks so often that it has no end
	 */
	long now() {
		if (++this.looks > MOST_LOOKS) {
			throw new IllegalStateException("An event has no end");
		}
		return this.now;
	}

	/**
	 * Records a grant.
	 * @return for how long the key was free while processes waited, or {@code null} if it
	 * was not, or one of them gave up
	 */
	@Nullable Long recordGrant(LockKey key) {
		this.grants.put(key, this.now);
		Long freeSince = this.freeSince.remove(key);
		return (freeSince != null) ? this.now - freeSince : null;
	}

	/** Records a release, after which the store keeps the key for a time. */
	void recordRelease(LockKey key, Duration keepFor) {
		if (this.waiting.getOrDefault(key, 0) > 0) {
			this.freeSince.put(key, this.now + keepFor.toNanos());
		}
	}

	/** Records that a process has entered or left the wait queue of a key. */
	void recordWaiting(LockKey key, int change) {
		this.waiting.merge(key, change, Integer::sum);
	}

	/** Records that a process does not want a key any more, which may be free for it. */
	void recordWithdrawal(LockKey key) {
		this.freeSince.remove(key);
	}

	/** Records that a process waits for a whole key. */
	void recordWriter(LockKey key, SimulatedProcess process) {
		this.overtaken.computeIfAbsent(key, (absent) -> new HashMap<>()).putIfAbsent(process, 0);
	}

	/** Records that a process does not wait for a whole key any more. */
	void forgetWriter(LockKey key, SimulatedProcess process) {
		this.overtaken.getOrDefault(key, new HashMap<>()).remove(process);
	}

	/**
	 * Records that a share was granted.
	 * @return how many of them a process that waits for the whole key has seen at most
	 */
	int recordShare(LockKey key) {
		Map<SimulatedProcess, Integer> writers = this.overtaken.getOrDefault(key, new HashMap<>());
		writers.replaceAll((process, shares) -> shares + 1);
		return writers.values().stream().mapToInt(Integer::intValue).max().orElse(0);
	}

	/** Returns when the store last granted a key, or {@code null} if it never did. */
	@Nullable Long lastGrant(LockKey key) {
		return this.grants.get(key);
	}

	ShortestHolds shortestHolds() {
		return this.shortestHolds;
	}

	/** Sets what is checked after each event. */
	void setInvariant(Runnable check) {
		this.invariant = check;
	}

	/** Runs an action after a delay. */
	void after(long delayNanos, Runnable action) {
		this.events.add(new Event(this.now + Math.max(0, delayNanos), this.numbers++, action));
	}

	/** Runs the events up to an instant. */
	void runUntil(long instantNanos) {
		for (Event next = this.events.peek(); next != null
				&& next.atNanos() <= instantNanos; next = this.events.peek()) {
			if (this.numbers > MOST_EVENTS) {
				throw new IllegalStateException("The simulation has no end");
			}
			this.looks = 0;
			this.events.remove();
			this.now = Math.max(this.now, next.atNanos());
			next.action().run();
			this.invariant.run();
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
