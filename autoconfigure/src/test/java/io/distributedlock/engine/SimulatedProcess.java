package io.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.LockListener;
import io.distributedlock.LockMode;
import io.distributedlock.LockSnapshot;
import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.event.LockEventPublisher;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.engine.release.ShareKey;
import io.distributedlock.local.LocalStore;
import io.distributedlock.provider.OwnerId;

/**
 * A process of a simulation: an engine with a clock of its own, which may run a little
 * faster or slower than that of the store. A process may be paused, so that nothing of it
 * happens for a while, and it may crash, so that nothing happens any more.
 */
final class SimulatedProcess implements EngineEnvironment {

	private final LockSettings settings;

	final SimulatedWorld world;

	final int number;

	final SimulatedProvider provider;

	final ObservationJournal observations = new ObservationJournal();

	private final double rate;

	private final long offset;

	private final List<Runnable> deferred = new ArrayList<>();

	private long pausedUntil;

	private boolean crashed;

	/** All engines of the process, the present one last. */
	private final List<LockEngine> engines = new ArrayList<>();

	private long disturbances;

	/** The wait times of the users that wait without a limit, by their names. */
	private final Map<String, Duration> patience = new HashMap<>();

	/** When the last attempt was answered, by what it was for: {@link ShareKey}. */
	private final Map<Object, Long> answers = new HashMap<>();

	/**
	 * Creates a process.
	 * @param number the number of the process
	 * @param store the store that all processes share
	 * @param faults how much goes wrong, from 0 to 1
	 * @param repeats whether its client repeats commands
	 * @param handOff whether locks are handed off inside the process
	 */
	SimulatedProcess(SimulatedWorld world, int number, LocalStore store, double faults, boolean repeats,
			boolean handOff) {
		this.world = world;
		this.number = number;
		this.settings = LockSettings.defaults()
			.withLease(Duration.ofSeconds(3))
			.withMaxHandOffTime(handOff ? Duration.ofMillis(20) : null);
		this.rate = 1 + (world.fraction() - 0.5) * 0.004;
		this.offset = world.nextLong() >> 8;
		this.provider = new SimulatedProvider(this, store, faults, repeats);
		start();
	}

	/** Starts an engine, the first one or after another has stopped. */
	void start() {
		this.engines.add(new LockEngine(this.provider, this.settings, this,
				new LockEventPublisher(this, List.of(this.observations), List.<LockListener>of()),
				EnclosingTransaction.NONE, () -> {
				}));
	}

	LockEngine engine() {
		return this.engines.get(this.engines.size() - 1);
	}

	List<LockEngine> engines() {
		return this.engines;
	}

	/** Returns how often the process was paused, so that its times mean nothing. */
	long disturbances() {
		return this.disturbances;
	}

	@Override
	public long nanoTime() {
		return this.offset + (long) (this.world.now() * this.rate);
	}

	@Override
	public Runnable schedule(Runnable signal, long delayNanos) {
		boolean[] cancelled = new boolean[1];
		later((long) (Math.max(0, delayNanos) / this.rate) + 1, () -> {
			if (!cancelled[0]) {
				signal.run();
			}
		});
		return () -> cancelled[0] = true;
	}

	/** Runs an action of this process after a delay, unless it is paused or dead then. */
	void later(long delayNanos, Runnable action) {
		this.world.after(delayNanos, () -> run(action));
	}

	private void run(Runnable action) {
		if (this.crashed) {
			return;
		}
		if (this.world.now() < this.pausedUntil) {
			this.deferred.add(action);
			return;
		}
		action.run();
	}

	/** Pauses the process; what should have happened happens afterwards. */
	void pause(Duration duration) {
		this.world.record("p" + this.number + " pauses for " + duration.toMillis() + " ms");
		this.disturbances++;
		this.pausedUntil = this.world.now() + duration.toNanos();
		this.world.after(duration.toNanos() + 1, () -> {
			List<Runnable> missed = List.copyOf(this.deferred);
			this.deferred.clear();
			missed.forEach((action) -> this.world.after(0, () -> run(action)));
		});
	}

	boolean isPaused() {
		return this.world.now() < this.pausedUntil;
	}

	/** Whether it is paused, or has just not done yet what was due in a pause. */
	boolean wasPausedAt(long nowNanos) {
		return this.disturbances > 0 && nowNanos - this.pausedUntil < Duration.ofMillis(50).toNanos();
	}

	void crash() {
		this.world.record("p" + this.number + " crashes");
		this.crashed = true;
	}

	boolean isCrashed() {
		return this.crashed;
	}

	@Override
	public OwnerId newOwnerId() {
		return new OwnerId(String.format("%016x%016x", this.world.nextLong(), this.world.nextLong()));
	}

	@Override
	public double nextDouble() {
		return this.world.fraction();
	}

	@Override
	public Executor executor(Work work) {
		return (task) -> later(this.world.duration(Duration.ofMillis(2)), task);
	}

	@Override
	public String toString() {
		return "p" + this.number;
	}

	/** Records that a user waits as long as the store answers. */
	void addPatience(String user, Duration waitTime) {
		this.patience.put(user, waitTime);
	}

	/**
	 * Returns for how long the store may fail before the wait of a user ends, or
	 * {@code null} for one that waits for its wait time.
	 */
	@Nullable Duration patience(String user) {
		return this.patience.get(user);
	}

	/** Records that the answer to an attempt has arrived. */
	void recordAnswer(Object shareKey) {
		this.answers.put(shareKey, nanoTime());
	}

	/** Returns how long ago the last answer to an attempt has arrived. */
	long unansweredNanos(Object shareKey) {
		Long at = this.answers.get(shareKey);
		return (at != null) ? nanoTime() - at : Nanos.NEVER;
	}

	/** Returns the name of the user that waits for a key at the head of its queue. */
	@Nullable String head(LockKey key, LockMode mode) {
		return engine().snapshot()
			.waiting()
			.stream()
			.filter((waiting) -> waiting.key().equals(key) && waiting.mode() == mode)
			.findFirst()
			.map(LockSnapshot.Waiting::requester)
			.orElse(null);
	}

	/** Whether the only engine of this process has a whole key that it did not end. */
	boolean hasGrant(LockKey key) {
		return this.engines.size() == 1 && engine().context()
			.heldGrants()
			.all()
			.stream()
			.anyMatch((grant) -> grant.key().equals(key) && grant.mode() == LockMode.EXCLUSIVE);
	}

	/**
	 * Returns the grants of this process that are held by its own clock, without a side
	 * effect.
	 */
	List<HeldGrant> grantsNow(LockKey key) {
		List<HeldGrant> held = new ArrayList<>();
		for (LockEngine engine : this.engines) {
			for (HeldGrant grant : engine.context().heldGrants().all()) {
				if (grant.key().equals(key) && grant.isCurrent() && !grant.isOffered()
						&& !Nanos.isPast(grant.deadlineNanos(), nanoTime())) {
					held.add(grant);
				}
			}
		}
		return held;
	}

}
