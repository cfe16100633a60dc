package io.distributedlock.autoconfigure.redis;

import java.util.stream.Collectors;

import io.lettuce.core.RedisClient;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.NoneNestedConditions;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
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
import io.distributedlock.provider.LockProvider;
import io.distributedlock.redis.quorum.RedisQuorumLockProvider;
import io.distributedlock.redis.quorum.RedisQuorumNode;
import io.distributedlock.redis.quorum.RedisQuorumSettings;

/**
 * Auto-configuration of locks in a quorum of independent Redis servers, over connections
 * of their own. It takes the place of the locks in the application's Redis.
 *
 * @since 0.1.0
 */
@AutoConfiguration(before = { RedisLockAutoConfiguration.class, DistributedLockAutoConfiguration.class })
@Conditional(OnRedisQuorumCondition.class)
@ConditionalOnLockStore("redis")
public final class RedisQuorumLockAutoConfiguration {

	/** Locks over connections of Lettuce. */
	@Lazy
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ RedisConnectionFactory.class, RedisClient.class })
	@EnableConfigurationProperties({ DistributedLockProperties.class, RedisQuorumProperties.class })
	static class LettuceConfiguration {

		@Bean
		@ConditionalOnMissingBean
		RedisQuorumLockProvider distributedLockRedisQuorumProvider(RedisQuorumProperties properties,
				DistributedLockProperties general, ObjectProvider<SslBundles> bundles, Environment environment) {
			properties.requireAtLeast(general.lease());
			return new RedisQuorumLockProvider(properties.addresses(bundles.getIfAvailable()),
					new RedisQuorumSettings(KeyPrefix.of(general, environment, "servers"), properties.maxLease()));
		}

		@Bean
		@ConditionalOnBean(name = "distributedLockRedisQuorumProvider")
		LockStoreLocation distributedLockRedisQuorumLocation(RedisQuorumProperties properties,
				DistributedLockProperties general, ObjectProvider<SslBundles> bundles, Environment environment) {
			return new LockStoreLocation("redis", KeyPrefix.text(general, environment),
					"quorum of the servers " + properties.addresses(bundles.getIfAvailable())
						.stream()
						.map(RedisQuorumNode::name)
						.collect(Collectors.joining(",")));
		}

	}

	/** Refusal of a quorum that no client can reach: no other store takes its place. */
	@Configuration(proxyBeanMethods = false)
	@Conditional(WithoutClient.class)
	static class RefusingConfiguration {

		@Bean
		@ConditionalOnMissingBean(name = "distributedLockRedisQuorumProvider")
		LockProvider distributedLockRedisQuorumProvider() {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The property " + OnRedisQuorumCondition.NODES
							+ " is set, but Spring Data Redis with Lettuce is not on the class path",
					"Add spring-boot-starter-data-redis with its client Lettuce, or remove the property");
		}

	}

	/** Condition that Spring Data Redis or Lettuce is missing. */
	static final class WithoutClient extends NoneNestedConditions {

		WithoutClient() {
			super(ConfigurationPhase.PARSE_CONFIGURATION);
		}

		/** Both are there. */
		@ConditionalOnClass({ RedisConnectionFactory.class, RedisClient.class })
		static class Client {

		}

	}

}
