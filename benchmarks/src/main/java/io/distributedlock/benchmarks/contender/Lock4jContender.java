package io.distributedlock.benchmarks.contender;

import java.time.Duration;
import java.util.List;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.LockTemplate;
import com.baomidou.lock.executor.RedisTemplateLockExecutor;
import com.baomidou.lock.spring.boot.autoconfigure.Lock4jProperties;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.distributedlock.benchmarks.Endpoint;

/**
 * lock4j's {@code LockTemplate}, put together by hand: its auto-configuration is for
 * Spring Boot 2 and 3.
 */
final class Lock4jContender implements Contender {

	private static final long RENEWED = -1;

	private final long expiry;

	private final LettuceConnectionFactory connections;

	private final LockTemplate locks = new LockTemplate();

	Lock4jContender(Endpoint server, LeaseMode mode) {
		this.expiry = (mode == LeaseMode.RENEWED) ? RENEWED : 30_000;
		this.connections = RedisFactories.open(server);
		Lock4jProperties properties = new Lock4jProperties();
		this.locks.setProperties(properties);
		this.locks.setExecutors(
				List.of(new RedisTemplateLockExecutor(new StringRedisTemplate(this.connections), properties)));
		try {
			this.locks.afterPropertiesSet();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public @Nullable HeldLock acquire(String key, Duration wait) {
		LockInfo lock = this.locks.lock(key, this.expiry, wait.toMillis());
		return (lock != null) ? () -> this.locks.releaseLock(lock) : null;
	}

	@Override
	public void close() {
		this.connections.destroy();
	}

}
