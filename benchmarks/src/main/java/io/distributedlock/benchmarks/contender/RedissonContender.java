package io.distributedlock.benchmarks.contender;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;

import io.distributedlock.benchmarks.Endpoint;
import io.distributedlock.benchmarks.Store;

/**
 * Redisson's {@code RLock} and {@code RReadWriteLock} with its watchdog.
 */
final class RedissonContender implements Contender {

	private final RedissonClient client;

	RedissonContender(Endpoint server) {
		Config config = new Config();
		if (server.store() == Store.REDIS_CLUSTER) {
			// Without replicas there is nothing else to read from.
			config.useClusterServers()
				.setReadMode(ReadMode.MASTER)
				.addNodeAddress(Arrays.stream(server.address().split(","))
					.map((node) -> "redis://" + node)
					.toArray(String[]::new));
		}
		else {
			config.useSingleServer().setAddress("redis://" + server.address());
		}
		this.client = Redisson.create(config);
	}

	@Override
	public @Nullable HeldLock acquire(String key, Duration wait) throws InterruptedException {
		return acquire(this.client.getLock(key), wait);
	}

	@Override
	public @Nullable HeldLock acquire(String key, boolean writes, Duration wait) throws InterruptedException {
		RReadWriteLock lock = this.client.getReadWriteLock(key);
		return acquire(writes ? lock.writeLock() : lock.readLock(), wait);
	}

	private static @Nullable HeldLock acquire(RLock lock, Duration wait) throws InterruptedException {
		boolean acquired = wait.isZero() ? lock.tryLock() : lock.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS);
		return acquired ? lock::unlock : null;
	}

	@Override
	public void close() {
		this.client.shutdown(0, 2, TimeUnit.SECONDS);
	}

}
