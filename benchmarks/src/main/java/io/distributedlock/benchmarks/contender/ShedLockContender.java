package io.distributedlock.benchmarks.contender;

import java.time.Duration;
import java.time.Instant;

import com.zaxxer.hikari.HikariDataSource;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;

import io.distributedlock.benchmarks.Endpoint;

/**
 * ShedLock's providers, used by hand. They do not wait.
 */
final class ShedLockContender implements Contender {

	private final LockProvider locks;

	private final Runnable onClose;

	private ShedLockContender(LockProvider locks, Runnable onClose) {
		this.locks = locks;
		this.onClose = onClose;
	}

	static ShedLockContender open(Endpoint server) {
		if (server.store().isRedis()) {
			LettuceConnectionFactory connections = RedisFactories.open(server);
			return new ShedLockContender(new RedisLockProvider(connections, "benchmark"), connections::destroy);
		}
		HikariDataSource connections = ConnectionPools.open(server);
		return new ShedLockContender(new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
			.withJdbcTemplate(new JdbcTemplate(connections))
			.usingDbTime()
			.build()), connections::close);
	}

	@Override
	public @Nullable HeldLock acquire(String key, Duration wait) {
		return this.locks.lock(new LockConfiguration(Instant.now(), key, Duration.ofSeconds(30), Duration.ZERO))
			.<HeldLock>map((lock) -> lock::unlock)
			.orElse(null);
	}

	@Override
	public void close() {
		this.onClose.run();
	}

}
