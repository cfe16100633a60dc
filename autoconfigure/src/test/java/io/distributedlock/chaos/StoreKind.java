package io.distributedlock.chaos;

import java.util.Locale;
import java.util.function.Supplier;

import io.distributedlock.jdbc.DatabaseChaosStore;
import io.distributedlock.jdbc.PostgresChaosStore;
import io.distributedlock.redis.RedisChaosStore;
import io.distributedlock.zookeeper.ZooKeeperChaosStore;

/** The stores of chaos runs. */
enum StoreKind {

	REDIS(RedisChaosStore::new), POSTGRESQL(PostgresChaosStore::new), MYSQL(DatabaseChaosStore::mySql),
	ZOOKEEPER(ZooKeeperChaosStore::new), H2(DatabaseChaosStore::h2);

	private final Supplier<ChaosStore> start;

	StoreKind(Supplier<ChaosStore> start) {
		this.start = start;
	}

	static StoreKind of(String name) {
		return valueOf(name.toUpperCase(Locale.ROOT));
	}

	ChaosStore start() {
		return this.start.get();
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
