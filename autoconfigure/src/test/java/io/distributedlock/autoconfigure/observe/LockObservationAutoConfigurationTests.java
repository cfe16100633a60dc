package io.distributedlock.autoconfigure.observe;

import java.util.List;

import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import io.distributedlock.LockKey;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.local.NoLockProvider;
import io.distributedlock.micrometer.DefaultLockAcquireObservationConvention;
import io.distributedlock.micrometer.DefaultLockHoldObservationConvention;
import io.distributedlock.micrometer.LockAcquireObservationContext;
import io.distributedlock.micrometer.LockAcquireObservationConvention;
import io.distributedlock.micrometer.LockHoldObservationConvention;
import io.distributedlock.micrometer.ObservationLockObserver;
import io.distributedlock.slf4j.MdcLockObserver;

import static org.assertj.core.api.Assertions.assertThat;

class LockObservationAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LockMetricsAutoConfiguration.class,
						LockObservationAutoConfiguration.class, LockMdcAutoConfiguration.class))
		.withPropertyValues("distributed-lock.provider=local");

	/** What Boot's own starter of the actuator brings. */
	private final ApplicationContextRunner boot = this.runner
		.withConfiguration(AutoConfigurations.of(ObservationAutoConfiguration.class, MetricsAutoConfiguration.class,
				CompositeMeterRegistryAutoConfiguration.class, SimpleMetricsExportAutoConfiguration.class))
		.withBean("none", NoLockProvider.class)
		.withBean(LockMetricsAutoConfigurationTests.Jobs.class);

	private static void lock(ApplicationContext context) {
		context.getBean("distributedLockTemplate", LockOperations.class)
			.execute(LockRequest.of(LockKey.of("orders", "1")), (lease) -> null);
	}

	private static List<String> meters(ApplicationContext context) {
		return context.getBean(MeterRegistry.class)
			.getMeters()
			.stream()
			.map((meter) -> meter.getId().getName())
			.filter((name) -> name.startsWith("distributed.lock"))
			.distinct()
			.toList();
	}

	@Test
	void registryOfObservationsAloneIsEnough() {
		TestObservationRegistry registry = TestObservationRegistry.create();
		this.runner.withClassLoader(new FilteredClassLoader("io.micrometer.core"))
			.withBean(ObservationRegistry.class, () -> registry)
			.run((context) -> {
				lock(context);
				TestObservationRegistryAssert.assertThat(registry)
					.hasNumberOfObservationsEqualTo(2)
					.hasObservationWithNameEqualTo("distributed.lock.hold")
					.that()
					.hasBeenStopped();
			});
	}

	@Test
	void registryOfMetersAloneIsEnough() {
		this.runner.withBean(MeterRegistry.class, SimpleMeterRegistry::new).run((context) -> {
			lock(context);
			assertThat(context).doesNotHaveBean(ObservationRegistry.class);
			assertThat(meters(context)).contains("distributed.lock.hold", "distributed.lock.hold.active",
					"distributed.lock.acquire", "distributed.lock.acquire.active");
		});
	}

	@Test
	void everythingOfBootIsUsed() {
		this.boot.run((context) -> {
			lock(context);
			assertThat(context.getBean(MeterRegistry.class)
				.get("distributed.lock.hold")
				.tags("lock.name", "orders", "outcome", "released", "error", "none")
				.timer()
				.count()).isEqualTo(1);
			int meters = context.getBean(MeterRegistry.class).getMeters().size();
			context.getBean(LockMetricsAutoConfigurationTests.Jobs.class).run();
			assertThat(context.getBean(MeterRegistry.class).getMeters()).hasSize(meters);
		});
	}

	@Test
	void nothingIsConfiguredWithoutARegistry() {
		this.runner.run((context) -> assertThat(context).doesNotHaveBean(LockObservationAutoConfiguration.class));
	}

	@Test
	void nothingOfMicrometerIsNeeded() {
		this.runner.withClassLoader(new FilteredClassLoader("io.micrometer", "org.slf4j")).run((context) -> {
			assertThat(context).hasNotFailed()
				.doesNotHaveBean(ObservationLockObserver.class)
				.doesNotHaveBean(MdcLockObserver.class);
			lock(context);
		});
	}

	@Test
	void observationsAreSwitchedOffByTheirName() {
		this.boot.withPropertyValues("management.observations.enable.distributed.lock=false").run((context) -> {
			lock(context);
			assertThat(meters(context)).isNotEmpty()
				.noneMatch((name) -> name.contains("acquire") || name.contains("hold"));
		});
	}

	@Test
	void metersAreSwitchedOffByTheirName() {
		this.boot.withPropertyValues("management.metrics.enable.distributed.lock=false").run((context) -> {
			lock(context);
			assertThat(meters(context)).isEmpty();
		});
	}

	@Test
	void applicationsOwnConventionsReplaceOurs() {
		this.boot.withBean(LockAcquireObservationConvention.class, Tenants::new)
			.withBean(LockHoldObservationConvention.class, Renamed::new)
			.run((context) -> {
				int meters = context.getBean(MeterRegistry.class).getMeters().size();
				context.getBean(LockMetricsAutoConfigurationTests.Jobs.class).run();
				assertThat(context.getBean(MeterRegistry.class).getMeters()).hasSize(meters);
				assertThat(context.getBean(MeterRegistry.class)
					.get("distributed.lock.acquire")
					.tags("lock.name", "jobs.run", "tenant", "one", "outcome", "acquired")
					.timer()
					.count()).isEqualTo(1);
				assertThat(meters(context)).doesNotContain("distributed.lock.hold");
			});
	}

	@Test
	void applicationsOwnObserversReplaceOurs() {
		this.boot.withBean("ownMdc", MdcLockObserver.class, MdcLockObserver::new)
			.withBean("ownObservations", ObservationLockObserver.class,
					() -> new ObservationLockObserver(ObservationRegistry.NOOP, "local",
							new DefaultLockAcquireObservationConvention(), new DefaultLockHoldObservationConvention()))
			.run((context) -> assertThat(context).hasSingleBean(MdcLockObserver.class)
				.hasSingleBean(ObservationLockObserver.class));
	}

	static class Tenants extends DefaultLockAcquireObservationConvention {

		@Override
		public KeyValues getLowCardinalityKeyValues(LockAcquireObservationContext context) {
			return super.getLowCardinalityKeyValues(context).and("tenant", "one");
		}

	}

	static class Renamed extends DefaultLockHoldObservationConvention {

		@Override
		public String getName() {
			return "shop.lock";
		}

	}

}
