package io.distributedlock.autoconfigure.redis;

import java.time.Duration;
import java.util.List;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.autoconfigure.ConditionalOnLockStore;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.DistributedLockProperties;
import io.distributedlock.autoconfigure.KeyPrefix;
import io.distributedlock.autoconfigure.LockStoreLocation;
import io.distributedlock.autoconfigure.OnRedisQuorumCondition;
import io.distributedlock.autoconfigure.QualifiedBeanWarning;
import io.distributedlock.redis.DistributedLockConnectionFactory;
import io.distributedlock.redis.RedisLockProvider;
import io.distributedlock.redis.RedisLockSettings;

/**
 * Auto-configuration of locks in the application's Redis, over its own
 * {@link RedisConnectionFactory}.
 *
 * @since 0.1.0
 */
@Lazy
@AutoConfiguration(after = DataRedisAutoConfiguration.class, before = DistributedLockAutoConfiguration.class)
@ConditionalOnClass(RedisConnectionFactory.class)
@ConditionalOnLockStore(value = "redis", bean = RedisConnectionFactory.class,
		qualifier = DistributedLockConnectionFactory.class)
@Conditional(OnRedisQuorumCondition.Unset.class)
@EnableConfigurationProperties({ DistributedLockProperties.class, RedisLockProperties.class })
public final class RedisLockAutoConfiguration {

	private static final String CONNECT_TIMEOUT = "spring.data.redis.connect-timeout";

	/** Properties that name the application's own servers. */
	private static final List<String> SERVERS = List.of("spring.data.redis.url", "spring.data.redis.host",
			"spring.data.redis.cluster.nodes", "spring.data.redis.sentinel.nodes");

	@Bean
	@ConditionalOnMissingBean
	RedisLockProvider distributedLockRedisProvider(
			@DistributedLockConnectionFactory ObjectProvider<RedisConnectionFactory> own,
			ObjectProvider<RedisConnectionFactory> application, RedisLockProperties properties,
			DistributedLockProperties general, Environment environment) {
		properties.requireWithin(general.callTimeout());
		RedisConnectionFactory factory = factory(own, application);
		if (own.stream().findAny().isPresent()) {
			QualifiedBeanWarning.logIfInjected(factory, application.getIfUnique(), RedisConnectionFactory.class,
					DistributedLockConnectionFactory.class, environment, SERVERS);
		}
		return new RedisLockProvider(factory, new RedisLockSettings(KeyPrefix.of(general, environment, "server"),
				properties.minReplicas(), properties.replicaTimeout(), properties.twemproxy()));
	}

	@Bean
	@ConditionalOnBean(name = "distributedLockRedisProvider")
	LockStoreLocation distributedLockRedisLocation(
			@DistributedLockConnectionFactory ObjectProvider<RedisConnectionFactory> own,
			ObjectProvider<RedisConnectionFactory> application, DistributedLockProperties general,
			Environment environment) {
		BindResult<Duration> timeout = Binder.get(environment).bind(CONNECT_TIMEOUT, Duration.class);
		return new LockStoreLocation("redis", KeyPrefix.text(general, environment),
				RedisLocation.of(factory(own, application)),
				timeout.isBound() ? timeout.get() : LockStoreLocation.START_TIMEOUT, null);
	}

	private static RedisConnectionFactory factory(ObjectProvider<RedisConnectionFactory> own,
			ObjectProvider<RedisConnectionFactory> application) {
		List<RedisConnectionFactory> qualified = own.stream().toList();
		if (qualified.size() > 1) {
			throw unclear("There are several RedisConnectionFactory beans with @DistributedLockConnectionFactory",
					"Qualify one only");
		}
		RedisConnectionFactory factory = qualified.isEmpty() ? application.getIfUnique() : qualified.get(0);
		if (factory == null) {
			throw unclear("There are several RedisConnectionFactory beans, none of them primary",
					"Qualify one with @DistributedLockConnectionFactory, or make one @Primary");
		}
		return factory;
	}

	private static LockConfigurationException unclear(String problem, String action) {
		return new LockConfigurationException(LockError.SEVERAL_PROVIDERS,
				problem + ", so that the server of the locks is not clear", action);
	}

}
