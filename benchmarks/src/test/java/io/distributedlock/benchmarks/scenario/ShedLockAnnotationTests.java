package io.distributedlock.benchmarks.scenario;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.scheduling.annotation.Scheduled;

import io.distributedlock.LockContext;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.ScheduledLock;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration;
import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.server.StoreServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The job of docs/migration/shedlock.md that has both annotations.
 */
@Tag("full")
class ShedLockAnnotationTests {

	private static final String NAME = "nightly-report";

	private static final String SHEDLOCK_KEY = "job-lock:shop:" + NAME;

	private static final String KEYS_OF_JOB = "*:" + NAME;

	@TempDir
	private Path folder;

	@Test
	void jobHasBothLocksAndRunsOnce() {
		try (StoreServer server = StoreServer.start(Store.REDIS, this.folder);
				ConfigurableApplicationContext context = start(server)) {
			Reports reports = context.getBean(Reports.class);
			Set<String> keys = reports.sendNightlyReport().orElseThrow();
			assertThat(keys).hasSize(2).contains(SHEDLOCK_KEY).anyMatch((key) -> key.startsWith("{shop:"));
			assertThat(reports.sendNightlyReport()).isEmpty();
		}
	}

	@Test
	void lockOfVersionOneSkipsJobBeforeNewLock() {
		try (StoreServer server = StoreServer.start(Store.REDIS, this.folder);
				ConfigurableApplicationContext context = start(server)) {
			Reports reports = context.getBean(Reports.class);
			SimpleLock old = context.getBean(LockProvider.class)
				.lock(new LockConfiguration(Instant.now(), NAME, Duration.ofHours(1), Duration.ZERO))
				.orElseThrow();
			assertThat(reports.sendNightlyReport()).isEmpty();
			// A new lock that was acquired would be kept: ShedLock's is the outer one.
			assertThat(keysOfJob(context)).containsOnly(SHEDLOCK_KEY);
			old.unlock();
			assertThat(reports.sendNightlyReport()).isPresent();
		}
	}

	@Test
	void lockOfVersionThreeSkipsJobWithinShedLock() {
		try (StoreServer server = StoreServer.start(Store.REDIS, this.folder);
				ConfigurableApplicationContext context = start(server)) {
			Reports reports = context.getBean(Reports.class);
			try (LockLease lease = context.getBean(LockOperations.class).acquire(LockRequest.of(LockKey.of(NAME)))) {
				assertThat(reports.sendNightlyReport()).isEmpty();
				lease.ensureHeld();
			}
			// ShedLock does not know that the job was skipped, and keeps its lock.
			assertThat(keysOfJob(context)).contains(SHEDLOCK_KEY);
		}
	}

	private static ConfigurableApplicationContext start(StoreServer server) {
		return new SpringApplicationBuilder(Shop.class).web(WebApplicationType.NONE)
			.properties("distributed-lock.provider=redis", "distributed-lock.key-prefix=shop",
					"spring.data.redis.port=" + server.endpoint().port())
			.run();
	}

	private static Set<String> keysOfJob(ConfigurableApplicationContext context) {
		return context.getBean(StringRedisTemplate.class).keys(KEYS_OF_JOB);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableSchedulerLock(defaultLockAtMostFor = "10m", order = 0)
	@ImportAutoConfiguration({ DataRedisAutoConfiguration.class, RedisLockAutoConfiguration.class,
			DistributedLockAutoConfiguration.class })
	@Import(Reports.class)
	static class Shop {

		@Bean
		LockProvider shedLockProvider(RedisConnectionFactory connections) {
			return new RedisLockProvider(connections, "shop");
		}

	}

	static class Reports {

		private final StringRedisTemplate redis;

		Reports(StringRedisTemplate redis) {
			this.redis = redis;
		}

		@Scheduled(cron = "0 0 3 * * *")
		@SchedulerLock(name = NAME, lockAtMostFor = "1h", lockAtLeastFor = "30m")
		@ScheduledLock(name = NAME, minHold = "30m")
		public Optional<Set<String>> sendNightlyReport() {
			LockAssert.assertLocked();
			LockContext.current().ensureHeld();
			return Optional.of(this.redis.keys(KEYS_OF_JOB));
		}

	}

}
