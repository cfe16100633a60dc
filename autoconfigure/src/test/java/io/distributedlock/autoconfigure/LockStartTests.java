package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.autoconfigure.jdbc.JdbcLockAutoConfiguration;
import io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration;
import io.distributedlock.autoconfigure.zookeeper.ZooKeeperLockAutoConfiguration;
import io.distributedlock.redis.RedisLockProvider;
import io.distributedlock.redis.RedisLockSettings;

import static org.assertj.core.api.Assertions.assertThat;

/** The line at start for each store; none of the servers has to be up for it. */
@ExtendWith(OutputCaptureExtension.class)
class LockStartTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withBean(LockUser.class)
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
		.withPropertyValues("spring.application.name=shop");

	private final ApplicationContextRunner redis = this.runner
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, RedisLockAutoConfiguration.class))
		.withPropertyValues("spring.data.redis.password=secret");

	@Test
	void tableIsNamedForADatabase(CapturedOutput output) {
		this.runner
			.withConfiguration(
					AutoConfigurations.of(DataSourceAutoConfiguration.class, JdbcLockAutoConfiguration.class))
			.withPropertyValues("spring.datasource.generate-unique-name=true", "distributed-lock.jdbc.table=shop_lock")
			.run((context) -> assertThat(output).containsOnlyOnce("Distributed locks:")
				.contains("Distributed locks: store 'jdbc' (the only candidate), table 'shop_lock', key prefix 'shop',"
						+ " lease 30s, wait-time 5s"));
	}

	@Test
	void serverIsNamedForRedis(CapturedOutput output) {
		this.redis.withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=1")
			.run((context) -> assertThat(output)
				.contains("store 'redis' (the only candidate), server 127.0.0.1:1, key prefix 'shop',")
				.doesNotContain("secret"));
	}

	@Test
	void nodesAreNamedForARedisCluster(CapturedOutput output) {
		for (String client : new String[] { "lettuce", "jedis" }) {
			this.redis
				.withPropertyValues("spring.data.redis.client-type=" + client,
						"spring.data.redis.cluster.nodes=127.0.0.1:1,127.0.0.1:2")
				.run((context) -> assertThat(output).contains("cluster 127.0.0.1:1,127.0.0.1:2, key prefix 'shop',"));
		}
	}

	@Test
	void masterIsNamedForRedisSentinels(CapturedOutput output) {
		this.redis
			.withPropertyValues("spring.data.redis.sentinel.master=main",
					"spring.data.redis.sentinel.nodes=127.0.0.1:1")
			.run((context) -> assertThat(output).contains("master 'main' of the sentinels 127.0.0.1:1, key prefix"));
	}

	@Test
	void startLineHasNoLocationForAnApplicationsProvider(CapturedOutput output) {
		this.redis.withUserConfiguration(OwnProvider.class)
			.run((context) -> assertThat(output).contains("store 'redis' (the only candidate), lease 30s"));
	}

	@Test
	void ensembleAndRootAreNamedForZooKeeper(CapturedOutput output) {
		this.runner.withConfiguration(AutoConfigurations.of(ZooKeeperLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.zookeeper.connect-string=127.0.0.1:1",
					"distributed-lock.zookeeper.connection-timeout=50ms", "distributed-lock.zookeeper.root=/own",
					"distributed-lock.zookeeper.namespace=apps",
					"distributed-lock.zookeeper.auth.credentials=locks:secret", "distributed-lock.key-prefix=orders")
			.run((context) -> assertThat(output)
				.contains("store 'zookeeper' (the only candidate), ensemble 127.0.0.1:1, root '/apps/own',"
						+ " key prefix 'orders',")
				.doesNotContain("secret"));
	}

	@Configuration(proxyBeanMethods = false)
	static class OwnProvider {

		@Bean
		RedisLockProvider ownProvider(RedisConnectionFactory factory) {
			return new RedisLockProvider(factory, new RedisLockSettings("own", 0, Duration.ofMillis(500)));
		}

	}

}
