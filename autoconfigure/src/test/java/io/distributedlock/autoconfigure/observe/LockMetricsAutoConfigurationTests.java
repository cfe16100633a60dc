package io.distributedlock.autoconfigure.observe;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.distributedlock.LockKey;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.local.NoLockProvider;
import io.distributedlock.micrometer.MeterLockObserver;

import static org.assertj.core.api.Assertions.assertThat;

class LockMetricsAutoConfigurationTests {

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LockMetricsAutoConfiguration.class, LockObservationAutoConfiguration.class))
		.withBean("none", NoLockProvider.class)
		.withPropertyValues("distributed-lock.provider=local");

	private final ApplicationContextRunner measured = this.runner.withBean(MeterRegistry.class, () -> this.registry);

	private int active(String meter) {
		return this.registry.get(meter).tags("lock.name", "orders").longTaskTimer().activeTasks();
	}

	@Test
	void locksAreMeasuredWhereThereIsARegistry() {
		this.measured.run((context) -> {
			context.getBean(LockOperations.class)
				.execute(LockRequest.of(LockKey.of("orders", "1")),
						(lease) -> assertThat(active("distributed.lock.hold.active")).isEqualTo(1));
			assertThat(active("distributed.lock.hold.active")).isZero();
			assertThat(active("distributed.lock.acquire.active")).isZero();
			assertThat(this.registry.get("distributed.lock.acquire")
				.tags("lock.name", "orders", "lock.provider", "local", "outcome", "acquired", "error", "none")
				.timer()
				.count()).isEqualTo(1);
		});
	}

	@Test
	void metersOfLockedMethodsAppearBeforeTheirFirstCall() {
		this.measured.withBean(Jobs.class).run((context) -> {
			int atStart = this.registry.getMeters().size();
			for (String meter : new String[] { "acquire", "acquire.active", "hold", "hold.active", "renewals", "lost",
					"skipped", "unlocked", "handoffs" }) {
				assertThat(this.registry.get("distributed.lock." + meter).tags("lock.name", "jobs.run").meters())
					.as(meter)
					.isNotEmpty()
					.allSatisfy((found) -> assertThat(found.getId().getTag("lock.provider")).isEqualTo("local"));
				assertThat(this.registry.get("distributed.lock." + meter).tags("lock.name", "jobs.elsewhere").meters())
					.as(meter)
					.isNotEmpty()
					.allSatisfy((found) -> assertThat(found.getId().getTag("lock.provider")).isEqualTo("none"));
			}
			context.getBean(Jobs.class).run();
			context.getBean(Jobs.class).elsewhere();
			assertThat(this.registry.getMeters()).hasSize(atStart);
		});
	}

	@Test
	void mockInsteadOfTheMetersIsNoReasonToFail() {
		this.measured.withBean(MeterLockObserver.class, () -> Mockito.mock(MeterLockObserver.class))
			.withBean(Jobs.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				Mockito.verify(context.getBean(MeterLockObserver.class), Mockito.atLeastOnce()).register("jobs.run");
			});
	}

	@Test
	void nothingIsCountedWithoutARegistry() {
		this.runner.run((context) -> assertThat(context).hasNotFailed()
			.doesNotHaveBean(MeterLockObserver.class)
			.doesNotHaveBean(LockedMethodMeters.class));
	}

	@Test
	void nothingIsCountedWithoutMicrometersMeters() {
		this.runner.withClassLoader(new FilteredClassLoader("io.micrometer.core"))
			.run((context) -> assertThat(context).hasNotFailed().hasBean("distributedLockTemplate"));
	}

	@Test
	void applicationsOwnObserverReplacesOurs() {
		this.measured.withBean("own", MeterLockObserver.class, () -> new MeterLockObserver(this.registry, "own"))
			.run((context) -> assertThat(context).hasSingleBean(MeterLockObserver.class).hasBean("own"));
	}

	static class Jobs {

		@DistributedLock(name = "jobs.run")
		void run() {
		}

		@DistributedLock(name = "jobs.elsewhere", provider = "none")
		void elsewhere() {
		}

	}

}
