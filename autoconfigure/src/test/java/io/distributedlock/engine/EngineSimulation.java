package io.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockProviderException;
import io.distributedlock.engine.grant.EngineLease;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.Hold;
import io.distributedlock.engine.queue.KeyRequest;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.LocalStore;
import io.distributedlock.provider.OwnerId;

/**
 * A deterministic simulation of several processes, each with the production engine, which
 * contend for a few keys of one store. Networks delay, lose and repeat messages;
 * processes pause, crash, stop and start; requests are interrupted and cancelled. The
 * promises of the library are checked at each step and at the end. FoundationDB and
 * TigerBeetle are tested in this way.
 */
final class EngineSimulation {

	private static final long BUSY_BEFORE = Duration.ofSeconds(5).toNanos();

	/**
	 * A lease that outlives the simulation, so that a grant that is left behind shows.
	 */
	private static final Duration LONG_LEASE = Duration.ofSeconds(400);

	/** Twice the longest time of hand-offs, and some time for the timer. */
	private static final Duration LONGEST_OFFER = Duration.ofMillis(50);

	/**
	 * How long after its wait time a request may end: the 250 ms that are promised, of
	 * which a thread that wakes up late can take 100 ms, and the steps before and after
	 * that.
	 */
	private static final Duration LATEST_END = Duration.ofMillis(255);

	/** Threads that want hot keys again and again come to an end. */
	private static final int MOST_USERS = 400;

	private static final Duration LONGEST_MIN_HOLD = Duration.ofSeconds(5);

	private static final int SHARED = Integer.MAX_VALUE;

	private static final int PERMITS = 2;

	private static final OwnerId NOBODY = new OwnerId("0".repeat(32));

	private final SimulatedWorld world;

	private final LocalStore store;

	private final boolean healthy;

	/** Whether leases outlive the simulation; no process dies or stops then. */
	private final boolean longLeases;

	/** Whether locks are wanted all the time, and held for a short time. */
	private final boolean hot;

	/** Whether some requests have a shortest hold. */
	private final boolean minHolds;

	/** The permits of requests that are not exclusive, none if all are. */
	private final List<Integer> permits;

	private final List<SimulatedProcess> processes;

	private final List<LockKey> keys;

	/** The users that have begun, in order, until they have failed or released. */
	private final List<SimulatedUser> present = new ArrayList<>();

	private final Map<SimulatedUser, EngineLease> acquired = new HashMap<>();

	private final Map<SimulatedUser, Long> disturbancesAtStart = new HashMap<>();

	private final Map<LockKey, Long> lastTokens = new HashMap<>();

	private final Map<SimulatedUser, Map<LockKey, Long>> tokensAtStart = new HashMap<>();

	/**
	 * The last tokens of exclusive holds, after which those of shares come that may be
	 * joined.
	 */
	private final Map<LockKey, Long> lastExclusiveTokens = new HashMap<>();

	/** When a key was last wanted by anybody. */
	private final Map<LockKey, Long> wantedAt = new HashMap<>();

	/** When an operator deleted a key in the store. */
	private final Map<LockKey, Long> deletedAt = new HashMap<>();

	/** When an engine began to stop, by the clock of its process. */
	private final Map<LockEngine, Long> stoppedAt = new HashMap<>();

	private int users;

	EngineSimulation(long seed) {
		this.world = new SimulatedWorld(seed);
		this.store = new LocalStore(this.world::now);
		this.healthy = this.world.happens(0.25);
		this.longLeases = this.world.happens(0.3);
		double faults = this.healthy ? 0 : this.world.fraction();
		boolean handOff = this.world.happens(0.7);
		this.hot = this.world.happens(0.2);
		this.minHolds = this.world.happens(0.4);
		this.permits = List.of(List.<Integer>of(), List.of(SHARED), List.of(PERMITS), List.of(SHARED, PERMITS))
			.get(this.world.choose(4));
		this.processes = IntStream.range(0, 2 + this.world.choose(2))
			.mapToObj(
					(number) -> new SimulatedProcess(this.world, number, this.store, faults, !this.longLeases, handOff))
			.toList();
		this.keys = IntStream.range(0, 1 + this.world.choose(2))
			.mapToObj((number) -> LockKey.of("seats", "s" + number))
			.toList();
	}

	/** Runs the simulation and returns the promises that were broken. */
	List<String> run() {
		long begin = this.world.now();
		this.world.setInvariant(() -> this.processes.forEach(this::checkOffers));
		planUsers(begin);
		if (!this.healthy) {
			planFaults();
		}
		else if (!this.longLeases && this.world.happens(0.3)) {
			this.world.after(this.world.duration(Duration.ofSeconds(8)), () -> delete(this.keys.get(0)));
		}
		this.world.runUntil(begin + Duration.ofSeconds(240).toNanos());
		checkEnd();
		return this.world.violations();
	}

	List<String> history() {
		return this.world.history();
	}

	private void planUsers(long begin) {
		long at = 0;
		long last = (this.hot ? Duration.ofSeconds(1) : Duration.ofSeconds(6)).toNanos();
		Duration pause = Duration.ofMillis(this.hot ? 10 : this.world.happens(0.3) ? 100 : 900);
		while (at < last) {
			at += this.world.duration(pause);
			this.world.after(at, this::newUser);
		}
	}

	private void newUser() {
		SimulatedProcess process = this.processes.get(this.world.choose(this.processes.size()));
		List<LockKey> wanted = (this.keys.size() > 1 && this.world.happens(0.2)) ? this.keys
				: List.of(this.keys.get(this.world.choose(this.keys.size())));
		newUser(process, wanted);
	}

	private void newUser(SimulatedProcess process, List<LockKey> wanted) {
		if (!process.isCrashed() && !process.isPaused()) {
			new SimulatedUser(this, process, this.users++, wanted).begin();
		}
	}

	/** A thread that wants a hot key wants it again soon. */
	void released(SimulatedUser user) {
		if (this.hot && this.users < MOST_USERS && this.world.happens(0.7)) {
			this.world.after(this.world.duration(Duration.ofNanos(50_000)), () -> newUser(user.process(), user.keys()));
		}
	}

	private void planFaults() {
		for (SimulatedProcess process : this.processes) {
			if (this.world.happens(0.3)) {
				this.world.after(this.world.duration(Duration.ofSeconds(8)),
						() -> process.pause(Duration.ofMillis(100 + this.world.choose(5000))));
			}
			if (this.world.happens(0.3)) {
				this.world.after(this.world.duration(Duration.ofSeconds(8)),
						() -> process.provider.cut(Duration.ofMillis(100 + this.world.choose(4000))));
			}
			if (this.world.happens(0.1) && !this.longLeases) {
				this.world.after(this.world.duration(Duration.ofSeconds(8)), () -> crash(process));
			}
			if (this.world.happens(0.15) && !this.longLeases) {
				process.later(this.world.duration(Duration.ofSeconds(8)), () -> stop(process));
			}
		}
	}

	private void crash(SimulatedProcess process) {
		process.crash();
		// What it held is busy until the leases end.
		this.keys.forEach((key) -> this.wantedAt.put(key, this.world.now()));
		this.present.removeIf((user) -> user.process() == process);
		this.acquired.keySet().removeIf((user) -> user.process() == process);
	}

	private void stop(SimulatedProcess process) {
		this.world.record(process + " stops");
		LockEngine engine = process.engine();
		this.stoppedAt.put(engine, process.nanoTime());
		long disturbances = process.disturbances();
		engine.beginStop();
		process.later(this.world.duration(Duration.ofSeconds(3)) + Duration.ofMillis(1100).toNanos(), () -> {
			this.world.check(engine.isQuiet() || process.disturbances() != disturbances, "P15",
					process + " has waiters a second after it began to stop");
			engine.endStop();
			this.world.record(process + " has stopped, and starts");
			process.start();
		});
	}

	private void delete(LockKey key) {
		this.world.record(key + " is deleted in the store");
		new LocalLockProvider(this.store).expire(key);
		this.deletedAt.put(key, this.world.now());
		this.world.shortestHolds().recordDeletion(key);
	}

	/** An offer that nobody picks up ends. */
	private void checkOffers(SimulatedProcess process) {
		if (process.isCrashed() || process.wasPausedAt(this.world.now())) {
			return;
		}
		for (LockEngine engine : process.engines()) {
			for (HeldGrant grant : engine.context().heldGrants().all()) {
				long age = process.nanoTime() - grant.grantedNanos();
				this.world.check(!grant.isOffered() || age < LONGEST_OFFER.toNanos(), "P16", process + " offers "
						+ grant.key() + " " + Duration.ofNanos(age).toMillis() + " ms after its grant");
			}
		}
	}

	/** Whether locks are wanted all the time, and held for a short time. */
	boolean isHot() {
		return this.hot;
	}

	/**
	 * Returns the lease of all requests of this simulation, or {@code null} for theirs.
	 */
	@Nullable Duration lease() {
		return this.longLeases ? LONG_LEASE : null;
	}

	/** Returns the permits of the next request, 0 for an exclusive one. */
	int newPermits() {
		return (this.permits.isEmpty() || this.world.happens(0.3)) ? 0
				: this.permits.get(this.world.choose(this.permits.size()));
	}

	/** Returns the shortest hold of the next request, or {@code null} for none. */
	@Nullable Duration newMinHold() {
		return (this.minHolds && this.world.happens(0.3))
				? Duration.ofNanos(this.world.duration(this.hot ? Duration.ofMillis(100) : LONGEST_MIN_HOLD)) : null;
	}

	/** Whether nothing that goes wrong outside the engine can explain a loss. */
	boolean isHealthy() {
		return this.healthy && this.deletedAt.isEmpty();
	}

	/**
	 * Whether nothing goes wrong, and a key was deleted in the store between two
	 * instants.
	 */
	boolean wasDeleted(LockKey key, long fromNanos, long toNanos) {
		Long at = this.deletedAt.get(key);
		return this.healthy && at != null && at > fromNanos && at < toNanos;
	}

	void arrived(SimulatedUser user) {
		this.present.add(user);
		this.disturbancesAtStart.put(user, user.process().disturbances());
		this.tokensAtStart.put(user, Map.copyOf(this.lastTokens));
	}

	void left(SimulatedUser user) {
		this.present.remove(user);
		user.keys().forEach((key) -> this.wantedAt.put(key, this.world.now()));
	}

	void acquired(SimulatedUser user, EngineLease lease, long tookNanos) {
		checkTime(user, tookNanos);
		this.present.remove(user);
		this.acquired.put(user, lease);
		Long stopped = this.stoppedAt.get(user.engine());
		Hold hold = SimulatedUser.hold(lease);
		this.world.check(stopped == null || hold == null || hold.sinceNanos() - stopped <= 0, "P15",
				user + " was granted a lock after its process began to stop");
		if (hold != null) {
			this.world.check(hold.sinceNanos() - hold.heldGrant().deadlineNanos() < 0, "P4",
					user + " was granted a lock whose deadline had passed");
			checkHandOff(user, hold);
		}
		checkOrder(user);
		for (LockKey key : user.keys()) {
			if (lease.isHeld() && !this.deletedAt.containsKey(key)) {
				long token = lease.fencingToken(key).value();
				boolean alone = user.request().mode() == LockMode.EXCLUSIVE;
				Map<LockKey, Long> before = alone ? this.lastTokens : (user.request().permits() == SHARED)
						? this.lastExclusiveTokens : this.tokensAtStart.getOrDefault(user, Map.of());
				Long last = before.get(key);
				this.lastTokens.merge(key, token, Math::max);
				if (alone) {
					this.lastExclusiveTokens.put(key, token);
				}
				this.world.check(last == null || last < token, "P6",
						user + " has the token " + token + " after " + last);
			}
			checkExclusion(key);
		}
	}

	private void checkHandOff(SimulatedUser user, Hold hold) {
		HeldGrant grant = hold.heldGrant();
		this.world.check(isDisturbed(user) || hold.sinceNanos() - grant.grantedNanos() < LONGEST_OFFER.toNanos(), "P16",
				user + " got a grant from its process that is too old");
		this.world.check(grant.isRenewed() == user.request().renew() && grant.lease().equals(user.lease()), "P7",
				user + " got a grant whose terms are not its own");
	}

	/** Those who waited are served in order; arrivals overtake each head a few times. */
	private void checkOrder(SimulatedUser user) {
		if (user.request().permits() == SHARED) {
			// Whoever has the same terms joins at once.
			return;
		}
		List<SimulatedUser> earlier = this.present.stream().filter((other) -> isBefore(other, user)).toList();
		if (user.wasQueued()) {
			this.world.check(earlier.isEmpty(), "P16", user + " was served before " + earlier);
		}
		else if (!earlier.isEmpty()) {
			SimulatedUser head = earlier.get(0);
			head.recordOvertake();
			this.world.check(head.overtakes() <= KeyRequest.MAX_OVERTAKES, "P16",
					head + " was overtaken " + head.overtakes() + " times");
		}
	}

	/** Whether a request waits for the one key of another, and came before it. */
	private static boolean isBefore(SimulatedUser other, SimulatedUser user) {
		return other.isQueued() && other.engine() == user.engine() && user.keys().size() == 1
				&& other.keys().equals(user.keys()) && other.request().permits() == user.request().permits()
				&& !other.startedAfter(user);
	}

	/**
	 * At most one process relies on a key, whatever its clock says, or several have
	 * shares.
	 */
	private void checkExclusion(LockKey key) {
		Long deleted = this.deletedAt.get(key);
		if (deleted != null && this.world.now() - deleted < BUSY_BEFORE) {
			return;
		}
		List<HeldGrant> grants = this.processes.stream()
			.filter((process) -> !process.isCrashed())
			.flatMap((process) -> process.grantsNow(key).stream())
			.toList();
		boolean shared = grants.stream().allMatch((grant) -> grant.mode() != LockMode.EXCLUSIVE);
		boolean limited = this.permits.equals(List.of(PERMITS));
		this.world.check(grants.size() <= (shared ? (limited ? PERMITS : SHARED) : 1), "P3",
				grants.size() + " grants of " + key + " are held");
	}

	void failed(SimulatedUser user, @Nullable Throwable failure, long tookNanos) {
		checkTime(user, tookNanos);
		if (failure instanceof LockProviderException known) {
			this.world.check(!this.healthy || known.error() == LockError.SHUTTING_DOWN, "P2",
					user + " is told of a store that failed, although it did not: " + known.getMessage());
			this.world.check(
					!user.waitsForever() || known.error() == LockError.SHUTTING_DOWN || user.keys().size() > 1
							|| user.unansweredNanos() >= user.waitTime().toNanos(),
					"P9", user + " is told of a store that has failed for less than its wait time");
		}
		else if (failure instanceof LockNotAcquiredException) {
			this.world.check((tookNanos >= user.waitTime().toNanos() && !user.waitsForever()) || isDisturbed(user),
					"P9", user + " is told that its lock is busy before the end of its wait time");
			this.world.check(user.keys().stream().anyMatch((key) -> wasWanted(user, key, tookNanos)), "P2",
					user + " is told that its lock is busy, although nobody wanted it");
		}
	}

	/** A request of a process that pauses is told late what it was answered before. */
	private boolean wasWanted(SimulatedUser user, LockKey key, long tookNanos) {
		long recently = this.world.now() - (this.longLeases ? LONG_LEASE.toNanos() : BUSY_BEFORE)
				- (this.minHolds ? 2 * LONGEST_MIN_HOLD.toNanos() : 0) - Math.max(user.waitTime().toNanos(), tookNanos);
		Long at = this.wantedAt.get(key);
		Long granted = this.world.lastGrant(key);
		return (at != null && at > recently) || (granted != null && granted > recently)
				|| this.acquired.keySet().stream().anyMatch((other) -> other.keys().contains(key))
				|| this.present.stream().anyMatch((other) -> other != user && other.keys().contains(key));
	}

	private void checkTime(SimulatedUser user, long tookNanos) {
		long answer = this.healthy ? 0 : user.engine().context().settings().callTimeout().toNanos();
		long most = Math.max(user.waitTime().toNanos(), answer) + LATEST_END.toNanos();
		this.world.check(tookNanos <= most || user.waitsForever() || isDisturbed(user), "P9", user + " has waited for "
				+ Duration.ofNanos(tookNanos).toMillis() + " ms, and no longer than " + waitText(user));
	}

	private static String waitText(SimulatedUser user) {
		return user.waitTime().toMillis() + " ms was its wait time";
	}

	/** Whether the process of a user was paused since the user came. */
	boolean isDisturbed(SimulatedUser user) {
		return this.disturbancesAtStart.getOrDefault(user, 0L) != user.process().disturbances();
	}

	private void checkEnd() {
		this.present.forEach((user) -> this.world.check(false, "P9", user + " never ends"));
		this.acquired.forEach((user, lease) -> this.world.check(user.losses() == ((lease.lossReason() != null) ? 1 : 0),
				"P8", user + " was told " + user.losses() + " losses, the reason is " + lease.lossReason()));
		for (SimulatedProcess process : this.processes) {
			if (!process.isCrashed()) {
				process.engines().forEach((engine) -> checkEnd(process, engine));
			}
		}
		this.processes.forEach((process) -> {
			ObservationJournal observations = process.observations;
			this.world.check(observations.violations().isEmpty() && (observations.open() == 0 || process.isCrashed()),
					"observations", process + ": " + observations);
		});
		this.processes.stream()
			.filter((process) -> !process.isCrashed())
			.forEach((process) -> this.world.check(process.provider.openContenders() == 0, "contender",
					process + " has left " + process.provider.openContenders() + " contenders open"));
		this.processes.forEach((process) -> this.world.check(!this.healthy || process.provider.enqueued().isEmpty(),
				"contender", process + " has left its entries in the wait queues " + process.provider.enqueued()));
		LocalLockProvider last = new LocalLockProvider(this.store);
		this.keys.forEach((key) -> last.release(key, NOBODY, Duration.ofSeconds(1)).result());
		this.keys.forEach((key) -> {
			this.world.check(!last.expire(key), "P5", key + " is still held in the store");
		});
	}

	private void checkEnd(SimulatedProcess process, LockEngine engine) {
		this.world.check(engine.context().heldGrants().isEmpty(), "P12",
				process + " still has " + engine.context().heldGrants().views());
		this.world.check(engine.queueCount() == 0, "P12", process + " still has queues: " + engine.queueCount());
		// An attempt without an answer is asked about until its lease would be over.
		this.world.check(this.longLeases || engine.context().pendingReleases().size() == 0, "P5",
				process + " still has " + engine.context().pendingReleases().size() + " pending releases");
	}

}
