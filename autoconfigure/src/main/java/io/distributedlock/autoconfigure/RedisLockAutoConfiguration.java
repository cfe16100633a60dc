package io.distributedlock.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.redis.RedisLockProvider;
import io.distributedlock.redis.RedisLockSettings;

/**
 * Auto-configuration of locks in the application's Redis, over its own
 * {@link RedisConnectionFactory}.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = DataRedisAutoConfiguration.class, before = DistributedLockAutoConfiguration.class)
@ConditionalOnClass(RedisConnectionFactory.class)
@ConditionalOnBean(RedisConnectionFactory.class)
@ConditionalOnProperty(prefix = "distributed-lock", name = "provider", havingValue = "redis", matchIfMissing = true)
@EnableConfigurationProperties({ DistributedLockProperties.class, RedisLockProperties.class })
public final class RedisLockAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	RedisLockProvider distributedLockRedisProvider(ObjectProvider<RedisConnectionFactory> factories,
			RedisLockProperties properties, DistributedLockProperties general, Environment environment) {
		RedisConnectionFactory factory = factories.getIfUnique();
		if (factory == null) {
			throw new LockConfigurationException(LockError.SEVERAL_PROVIDERS,
					"There are several RedisConnectionFactory beans, none of them primary,"
							+ " so that the server of the locks is not clear",
					"Make one @Primary, or define a RedisLockProvider");
		}
		return new RedisLockProvider(factory, new RedisLockSettings(KeyPrefix.of(general, environment, "server"),
				properties.minReplicas(), properties.replicaTimeout()));
	}

	@Bean
	@ConditionalOnBean(name = "distributedLockRedisProvider")
	LockStoreLocation distributedLockRedisLocation(ObjectProvider<RedisConnectionFactory> factories,
			DistributedLockProperties general, Environment environment) {
		return new LockStoreLocation("redis", KeyPrefix.text(general, environment),
				RedisLocation.of(factories.getIfUnique()));
	}

}
