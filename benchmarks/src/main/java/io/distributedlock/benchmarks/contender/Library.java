package io.distributedlock.benchmarks.contender;

import java.util.Arrays;
import java.util.Set;
import java.util.function.Predicate;

import io.distributedlock.benchmarks.Endpoint;
import io.distributedlock.benchmarks.Store;

/**
 * The contenders: their names, what they can do, and where they run.
 */
public enum Library {

	/** The bare client with the least that a lock needs. */
	RAW("raw", (store) -> true, Ability.ATTEMPTS),

	/** The bare client with the least that a lock with a fencing token needs. */
	RAW_FENCED("raw-fenced", (store) -> store == Store.REDIS, Ability.ATTEMPTS),

	/** The bare client with the least that waiting for a lock needs. */
	RAW_BLOCKING("raw-blocking", (store) -> store != Store.REDIS_CLUSTER && store != Store.H2, Ability.WAITS),

	/** This library. */
	OURS("ours", (store) -> true, Ability.values()),

	/** Another build of this library. */
	OURS_BEFORE("ours-before", (store) -> true, Ability.values()),

	/** Redisson's {@code RLock} and {@code RReadWriteLock}. */
	REDISSON("redisson", Store::isRedis, Ability.values()),

	/** Spring Integration's lock registries. */
	SPRING_INTEGRATION("spring-integration", (store) -> true, Ability.ATTEMPTS, Ability.WAITS, Ability.REENTERS,
			Ability.RENEWS),

	/** ShedLock's providers, used by hand. */
	SHEDLOCK("shedlock", (store) -> store != Store.ZOOKEEPER, Ability.ATTEMPTS),

	/** lock4j's {@code LockTemplate} over Redis. */
	LOCK4J("lock4j", Store::isRedis, Ability.ATTEMPTS, Ability.WAITS, Ability.RENEWS),

	/** Curator's {@code InterProcessMutex} and {@code InterProcessReadWriteLock}. */
	CURATOR("curator", (store) -> store == Store.ZOOKEEPER, Ability.values());

	private final String label;

	@SuppressWarnings("ImmutableEnumChecker") // without state
	private final Predicate<Store> stores;

	@SuppressWarnings("ImmutableEnumChecker") // cannot be modified
	private final Set<Ability> abilities;

	Library(String label, Predicate<Store> stores, Ability... abilities) {
		this.label = label;
		this.stores = stores;
		this.abilities = Set.of(abilities);
	}

	/** Returns the name on the command line and in the results. */
	public String label() {
		return this.label;
	}

	/** Whether this is the bare client, to which the others are compared. */
	public boolean isRaw() {
		return this == RAW || this == RAW_BLOCKING;
	}

	/** Whether this is a build of this library. */
	public boolean isOurs() {
		return this == OURS || this == OURS_BEFORE;
	}

	/**
	 * Whether the library can do something with the locks of a store.
	 * @param store where the locks are kept
	 * @param ability what is asked for
	 */
	public boolean can(Store store, Ability ability) {
		if (ability == Ability.RENEWS && this == SPRING_INTEGRATION) {
			// Its JDBC registry has a method to renew, and nothing that calls it.
			return !store.isDatabase();
		}
		return this.stores.test(store) && this.abilities.contains(ability);
	}

	/**
	 * Opens a contender with connections of its own.
	 * @param server the server that keeps the locks
	 * @param mode how long locks last where the library leaves the choice
	 */
	public Contender open(Endpoint server, LeaseMode mode) {
		return switch (this) {
			case RAW -> raw(server);
			case RAW_FENCED -> new RawFencedRedis(server);
			case RAW_BLOCKING -> rawBlocking(server);
			case OURS, OURS_BEFORE -> new DistributedLockContender(server);
			case REDISSON -> new RedissonContender(server);
			case SPRING_INTEGRATION -> SpringIntegrationContender.open(server, mode);
			case SHEDLOCK -> ShedLockContender.open(server);
			case LOCK4J -> new Lock4jContender(server, mode);
			case CURATOR -> new CuratorContender(server);
		};
	}

	private static Contender raw(Endpoint server) {
		return switch (server.store()) {
			case REDIS, REDIS_CLUSTER -> new RawRedis(server);
			case POSTGRESQL, MYSQL, MARIADB, H2 -> new RawDatabase(server);
			case ZOOKEEPER -> new RawZooKeeper(server);
		};
	}

	private static Contender rawBlocking(Endpoint server) {
		return switch (server.store()) {
			case REDIS -> new RawBlockingRedis(server);
			case POSTGRESQL, MYSQL, MARIADB -> new RawBlockingDatabase(server);
			case ZOOKEEPER -> new RawBlockingZooKeeper(server);
			default -> throw new IllegalArgumentException("Nothing blocks on " + server.store().label());
		};
	}

	/** Returns the library with a label. */
	public static Library of(String label) {
		return Arrays.stream(values())
			.filter((library) -> library.label.equals(label))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException("There is no contender '" + label + "', only "
					+ Arrays.stream(values()).map(Library::label).toList()));
	}

}
