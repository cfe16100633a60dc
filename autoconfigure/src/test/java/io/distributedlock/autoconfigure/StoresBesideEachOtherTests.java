package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockContext;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.jdbc.JdbcLockAutoConfiguration;
import io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration;
import io.distributedlock.autoconfigure.zookeeper.ZooKeeperLockAutoConfiguration;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.redis.RedisLockProvider;
import io.distributedlock.redis.RedisLockSettings;
import io.distributedlock.redis.TestRedis;
import io.distributedlock.zookeeper.TestZooKeeper;
import io.distributedlock.zookeeper.ZooKeeperLockProvider;
import io.distributedlock.zookeeper.session.ZooKeeperLockSettings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A database, Redis and ZooKeeper keep locks beside each other, all on real servers. */
@Tag("full")
class StoresBesideEachOtherTests {

	private static final LockRequest REQUEST = LockRequest.of(LockKey.of("Jobs.run", "7")).withWaitTime(Duration.ZERO);

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				DataSourceAutoConfiguration.class, JdbcLockAutoConfiguration.class, DataRedisAutoConfiguration.class,
				RedisLockAutoConfiguration.class, ZooKeeperLockAutoConfiguration.class))
		.withPropertyValues("spring.application.name=beside", "spring.datasource.generate-unique-name=true",
				"spring.data.redis.port=" + TestRedis.port(), "distributed-lock.call-timeout=10s",
				"distributed-lock.zookeeper.connect-string=" + TestZooKeeper.connectString());

	private final ApplicationContextRunner all = this.runner.withPropertyValues("distributed-lock.provider=jdbc")
		.withUserConfiguration(AdditionalProviders.class)
		.withBean(Stores.class)
		.withBean(Jobs.class);

	@Test
	void methodsAreLockedInTheStoresThatTheyName() {
		this.all.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			Stores stores = context.getBean(Stores.class);
			assertThat(context.getBean(LockTemplate.class).snapshot().provider()).isEqualTo("jdbc");
			try (LockLease redis = stores.redis.acquire(REQUEST)) {
				assertThat(redis.isHeld()).isTrue();
				assertThat(jobs.run(7)).isTrue();
				assertThat(jobs.runInZooKeeper(7)).isTrue();
				assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> jobs.runInRedis(7));
			}
			try (LockLease zookeeper = stores.zookeeper.acquire(REQUEST)) {
				assertThat(zookeeper.isHeld()).isTrue();
				assertThat(jobs.run(7)).isTrue();
				assertThat(jobs.runInRedis(7)).isTrue();
				assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> jobs.runInZooKeeper(7));
			}
		});
	}

	/** The other application has the store as its only one. */
	@ParameterizedTest
	@ValueSource(strings = { "redis", "zookeeper" })
	void lockOfAnAdditionalStoreExcludesOtherApplications(String store) {
		this.all.run((context) -> this.runner.withPropertyValues("distributed-lock.provider=" + store).run((other) -> {
			Stores stores = context.getBean(Stores.class);
			LockOperations elsewhere = other.getBean(LockOperations.class);
			try (LockLease held = (store.equals("redis") ? stores.redis : stores.zookeeper).acquire(REQUEST)) {
				assertThat(elsewhere.tryAcquire(REQUEST)).isNull();
				assertThat(held.isHeld()).isTrue();
			}
			LockLease next = elsewhere.tryAcquire(REQUEST);
			assertThat(next).isNotNull();
			next.close();
		}));
	}

	@Configuration(proxyBeanMethods = false)
	static class AdditionalProviders {

		@Bean(defaultCandidate = false)
		RedisLockProvider redis(RedisConnectionFactory factory) {
			return new RedisLockProvider(factory, RedisLockSettings.defaults("beside"));
		}

		@Bean(initMethod = "start")
		CuratorFramework curator() {
			return CuratorFrameworkFactory.newClient(TestZooKeeper.connectString(), new RetryOneTime(100));
		}

		@Bean(defaultCandidate = false)
		ZooKeeperLockProvider zookeeper(CuratorFramework client, LockTimer timer) {
			return new ZooKeeperLockProvider(client, ZooKeeperLockSettings.defaults("beside"), timer);
		}

	}

	record Stores(@Qualifier("redis") LockOperations redis, @Qualifier("zookeeper") LockOperations zookeeper) {
	}

	static class Jobs {

		@DistributedLock(name = "Jobs.run", key = "#id", waitTime = "0")
		boolean run(int id) {
			return LockContext.find().isPresent();
		}

		@DistributedLock(name = "Jobs.run", key = "#id", waitTime = "0", provider = "redis")
		boolean runInRedis(int id) {
			return LockContext.find().isPresent();
		}

		@DistributedLock(name = "Jobs.run", key = "#id", waitTime = "0", provider = "zookeeper")
		boolean runInZooKeeper(int id) {
			return LockContext.find().isPresent();
		}

	}

}
