package io.distributedlock.benchmarks.contender;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.LockTransactionAutoConfiguration;
import io.distributedlock.autoconfigure.jdbc.JdbcLockAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockMetricsAutoConfiguration;
import io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration;
import io.distributedlock.autoconfigure.zookeeper.ZooKeeperLockAutoConfiguration;
import io.distributedlock.benchmarks.Endpoint;

/**
 * This library, as an application gets it from its auto-configuration, but for the size
 * of the pool, which is that of all contenders, and the time that a call may take: a
 * machine that is busy measuring fails no call.
 */
final class DistributedLockContender implements Contender {

	private final ConfigurableApplicationContext context;

	private final LockOperations locks;

	DistributedLockContender(Endpoint server) {
		Map<String, Object> properties = new HashMap<>();
		properties.put("logging.level.root", "warn");
		properties.put("distributed-lock.call-timeout", "10s");
		switch (server.store()) {
			case REDIS -> {
				properties.put("distributed-lock.provider", "redis");
				properties.put("spring.data.redis.port", server.port());
			}
			case REDIS_CLUSTER -> {
				properties.put("distributed-lock.provider", "redis");
				properties.put("spring.data.redis.cluster.nodes", server.address());
			}
			case ZOOKEEPER -> {
				properties.put("distributed-lock.provider", "zookeeper");
				properties.put("distributed-lock.zookeeper.connect-string", server.address());
			}
			case POSTGRESQL, MYSQL, MARIADB, H2 -> {
				properties.put("distributed-lock.provider", "jdbc");
				properties.put("distributed-lock.jdbc.initialize-schema", "always");
				properties.put("distributed-lock.jdbc.pool.size", ConnectionPools.SIZE);
				properties.put("spring.datasource.url", server.address());
				properties.put("spring.datasource.username", server.user());
				properties.put("spring.datasource.password", "");
			}
		}
		this.context = new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.properties(properties)
			.run();
		this.locks = this.context.getBean(LockOperations.class);
	}

	@Override
	public @Nullable HeldLock acquire(String key, Duration wait) {
		return acquire(key, true, wait);
	}

	@Override
	public @Nullable HeldLock acquire(String key, boolean writes, Duration wait) {
		LockRequest request = LockRequest.of(LockKey.of("benchmark", key)).withWaitTime(wait);
		LockLease lease = this.locks.tryAcquire(writes ? request : request.shared());
		return (lease != null) ? lease::close : null;
	}

	@Override
	public void execute(String key, Body body) throws Exception {
		this.locks.<Boolean, Exception>execute(LockRequest.of(LockKey.of("benchmark", key)), (lease) -> {
			body.run();
			return true;
		});
	}

	@Override
	public void close() {
		this.context.close();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataRedisAutoConfiguration.class, DataSourceAutoConfiguration.class,
			RedisLockAutoConfiguration.class, JdbcLockAutoConfiguration.class, ZooKeeperLockAutoConfiguration.class,
			DistributedLockAutoConfiguration.class, LockTransactionAutoConfiguration.class,
			LockMetricsAutoConfiguration.class })
	static class Application {

		@Bean
		LockedBean lockedBean() {
			return new LockedBean();
		}

	}

	/** A locked bean, so that the application asks its store at start, as users' do. */
	static class LockedBean {

		@DistributedLock(name = "benchmark")
		public void run() {
			// Not called: the bodies are those of the scenarios.
		}

	}

}
