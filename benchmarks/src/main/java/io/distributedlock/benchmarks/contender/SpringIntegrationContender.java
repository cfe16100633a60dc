package io.distributedlock.benchmarks.contender;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import com.zaxxer.hikari.HikariDataSource;
import org.apache.curator.framework.CuratorFramework;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.integration.zookeeper.lock.ZookeeperLockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

import io.distributedlock.benchmarks.Endpoint;
import io.distributedlock.benchmarks.Store;

/**
 * Spring Integration's lock registries; in Redis with notifications, which make waiting
 * shorter than its default does.
 */
final class SpringIntegrationContender implements Contender {

	private static final Duration LEASE = Duration.ofSeconds(30);

	/** A registry forgets locks beyond its capacity, also those that are held. */
	private static final int CACHED_LOCKS = 100_000;

	private final LockRegistry<?> locks;

	private final Runnable onClose;

	private SpringIntegrationContender(LockRegistry<?> locks, Runnable onClose) {
		this.locks = locks;
		this.onClose = onClose;
	}

	static SpringIntegrationContender open(Endpoint server, LeaseMode mode) {
		return switch (server.store()) {
			case REDIS, REDIS_CLUSTER -> redis(server, mode);
			case POSTGRESQL, MYSQL, MARIADB, H2 -> database(server);
			case ZOOKEEPER -> zooKeeper(server);
		};
	}

	private static SpringIntegrationContender redis(Endpoint server, LeaseMode mode) {
		LettuceConnectionFactory connections = RedisFactories.open(server);
		ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
		scheduler.setDaemon(true);
		scheduler.setRemoveOnCancelPolicy(true);
		scheduler.initialize();
		RedisLockRegistry registry = new RedisLockRegistry(connections, "spring-integration", LEASE);
		registry.setRedisLockType(RedisLockRegistry.RedisLockType.PUB_SUB_LOCK);
		if (mode == LeaseMode.RENEWED) {
			registry.setRenewalTaskScheduler(scheduler);
		}
		registry.setCacheCapacity(CACHED_LOCKS);
		return new SpringIntegrationContender(registry, () -> {
			registry.destroy();
			scheduler.destroy();
			connections.destroy();
		});
	}

	private static SpringIntegrationContender database(Endpoint server) {
		HikariDataSource connections = ConnectionPools.open(server);
		DefaultLockRepository repository = new DefaultLockRepository(connections);
		repository.setTransactionManager(new JdbcTransactionManager(connections));
		if (server.store() == Store.POSTGRESQL) {
			// What its manual recommends for PostgreSQL.
			repository.setInsertQuery(repository.getInsertQuery() + " ON CONFLICT DO NOTHING");
		}
		repository.afterPropertiesSet();
		repository.afterSingletonsInstantiated();
		repository.start();
		JdbcLockRegistry registry = new JdbcLockRegistry(repository, LEASE);
		registry.setCacheCapacity(CACHED_LOCKS);
		return new SpringIntegrationContender(registry, () -> {
			repository.close();
			connections.close();
		});
	}

	private static SpringIntegrationContender zooKeeper(Endpoint server) {
		CuratorFramework client = CuratorClients.open(server);
		ZookeeperLockRegistry registry = new ZookeeperLockRegistry(client);
		registry.setCacheCapacity(CACHED_LOCKS);
		return new SpringIntegrationContender(registry, () -> {
			registry.destroy();
			client.close();
		});
	}

	@Override
	public @Nullable HeldLock acquire(String key, Duration wait) throws InterruptedException {
		Lock lock = this.locks.obtain(key);
		boolean acquired = wait.isZero() ? lock.tryLock() : lock.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS);
		return acquired ? lock::unlock : null;
	}

	/**
	 * Waits without an end, as its manual shows: {@code tryLock} would ask the server
	 * first.
	 */
	@Override
	public void execute(String key, Body body) throws Exception {
		Lock lock = this.locks.obtain(key);
		lock.lock();
		try {
			body.run();
		}
		finally {
			lock.unlock();
		}
	}

	@Override
	public void close() {
		this.onClose.run();
	}

}
