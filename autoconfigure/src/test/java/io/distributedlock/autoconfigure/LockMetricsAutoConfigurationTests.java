package io.distributedlock.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.distributedlock.LockKey;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.micrometer.MicrometerLockObserver;

import static org.assertj.core.api.Assertions.assertThat;

class LockMetricsAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LockMetricsAutoConfiguration.class))
		.withPropertyValues("distributed-lock.provider=local");

	@Test
	void locksAreMeasuredWhereThereIsARegistry() {
		SimpleMeterRegistry registry = new SimpleMeterRegistry();
		this.runner.withBean(MeterRegistry.class, () -> registry).run((context) -> {
			context.getBean(LockOperations.class)
				.execute(LockRequest.of(LockKey.of("orders", "1")),
						(lease) -> assertThat(
								registry.get("distributed.lock.held").tags("lock.name", "orders").gauge().value())
							.isEqualTo(1));
			assertThat(registry.get("distributed.lock.held").tags("lock.name", "orders").gauge().value()).isZero();
			assertThat(registry.get("distributed.lock.acquire")
				.tags("lock.name", "orders", "lock.provider", "local", "outcome", "acquired")
				.timer()
				.count()).isEqualTo(1);
		});
	}

	@Test
	void nothingIsMeasuredWithoutARegistry() {
		this.runner.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(MicrometerLockObserver.class));
	}

	@Test
	void nothingIsMeasuredWithoutMicrometer() {
		this.runner.withClassLoader(new FilteredClassLoader("io.micrometer.core"))
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(LockOperations.class));
	}

	@Test
	void applicationsOwnObserverReplacesOurs() {
		SimpleMeterRegistry registry = new SimpleMeterRegistry();
		this.runner.withBean(MeterRegistry.class, () -> registry)
			.withBean("own", MicrometerLockObserver.class, () -> new MicrometerLockObserver(registry, "own"))
			.run((context) -> assertThat(context).hasSingleBean(MicrometerLockObserver.class).hasBean("own"));
	}

}
