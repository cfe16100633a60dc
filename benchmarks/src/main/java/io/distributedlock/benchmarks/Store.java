package io.distributedlock.benchmarks;

import java.util.Arrays;
import java.util.Locale;

/**
 * A store that keeps locks.
 */
public enum Store {

	REDIS, REDIS_CLUSTER, POSTGRESQL, MYSQL, MARIADB, H2, ZOOKEEPER;

	/**
	 * Returns the name on the command line and in the results, such as
	 * {@code redis-cluster}.
	 */
	public String label() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	/** Whether the store is Redis, alone or as a cluster. */
	public boolean isRedis() {
		return this == REDIS || this == REDIS_CLUSTER;
	}

	/** Whether the store is reached by JDBC. */
	public boolean isDatabase() {
		return this == POSTGRESQL || this == MYSQL || this == MARIADB || this == H2;
	}

	/** Returns the store with a label. */
	public static Store of(String label) {
		return Arrays.stream(values())
			.filter((store) -> store.label().equals(label))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException(
					"There is no store '" + label + "', only " + Arrays.stream(values()).map(Store::label).toList()));
	}

}
