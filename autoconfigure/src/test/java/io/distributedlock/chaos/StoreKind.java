package io.distributedlock.chaos;

import java.util.Locale;
import java.util.concurrent.Callable;

import io.distributedlock.jdbc.DatabaseChaosStore;
import io.distributedlock.jdbc.PostgresChaosStore;
import io.distributedlock.redis.RedisChaosStore;
import io.distributedlock.zookeeper.ZooKeeperChaosStore;

/** The stores of chaos runs. */
enum StoreKind {

	REDIS(RedisChaosStore::standalone), REDIS_CLUSTER(RedisChaosStore::cluster), QUORUM(RedisChaosStore::quorum),
	POSTGRESQL(PostgresChaosStore::postgreSql), MYSQL(DatabaseChaosStore::mySql), H2(DatabaseChaosStore::h2),
	ZOOKEEPER(ZooKeeperChaosStore::standalone), ENSEMBLE(ZooKeeperChaosStore::ensemble);

	private final Callable<ChaosStore> start;

	StoreKind(Callable<ChaosStore> start) {
		this.start = start;
	}

	static StoreKind of(String name) {
		return valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_'));
	}

	ChaosStore start() throws Exception {
		return this.start.call();
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
