package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.annotation.Transactional;

import io.distributedlock.LockBusyEvent;
import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostEvent;
import io.distributedlock.LockLostException;
import io.distributedlock.LockMode;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.OnBusy;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.annotation.ScheduledLock;
import io.distributedlock.autoconfigure.jdbc.JdbcLockAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockMetricsAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockObservationAutoConfiguration;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.concurrent.CallbackThreads;
import io.distributedlock.jdbc.JdbcLockProvider;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockObserver;
import io.distributedlock.provider.LockProvider;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;

/** A database and the memory of this process keep locks beside each other. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("full")
class SeveralProvidersTests {

	private static final LockRequest REQUEST = LockRequest.of(LockKey.of("Jobs.run")).withWaitTime(Duration.ZERO);

	private final ApplicationContextRunner plain = new ApplicationContextRunner().withBean(LockUser.class)
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				JdbcLockAutoConfiguration.class, DataSourceAutoConfiguration.class, LockMetricsAutoConfiguration.class,
				LockObservationAutoConfiguration.class, LockTransactionAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class))
		.withPropertyValues("spring.application.name=shop", "spring.datasource.generate-unique-name=true",
				"distributed-lock.call-timeout=10s", "distributed-lock.wait-time=0");

	private final ApplicationContextRunner runner = this.plain.withPropertyValues("distributed-lock.provider=jdbc")
		.withUserConfiguration(AdditionalProvider.class);

	@Test
	void everyStoreHasItsEngineAndTheStartLinesTell(CapturedOutput output) {
		this.runner.withBean(Stores.class).run((context) -> {
			assertThat(context).hasSingleBean(JdbcLockProvider.class)
				.hasSingleBean(LocalLockProvider.class)
				.hasSingleBean(CallbackThreads.class);
			Stores stores = context.getBean(Stores.class);
			assertThat(stores.primary.snapshot().provider()).isEqualTo("jdbc");
			assertThat(stores.local.snapshot().provider()).isEqualTo("local");
			assertThat(stores.jdbc).isSameAs(stores.primary).isSameAs(context.getBean(LockOperations.class));
			assertThat(context.getBean(LockTemplate.class)).isSameAs(stores.primary);
			assertThat(context.getBean("distributedLockTemplate.local")).isSameAs(stores.local);
		});
		assertThat(output).containsOnlyOnce("store 'jdbc' (chosen by distributed-lock.provider), table")
			.containsOnlyOnce("store 'local' (additional), lease 30s");
	}

	@Test
	void onlyStoreBesideTheAdditionalOnesIsPrimary() {
		this.plain.withUserConfiguration(AdditionalProvider.class).withBean(Stores.class).run((context) -> {
			assertThat(context.getBean(Stores.class).jdbc).isSameAs(context.getBean(LockOperations.class));
			assertThat(context.getBean(Stores.class).primary.snapshot().provider()).isEqualTo("jdbc");
		});
	}

	@Test
	void qualifierFindsTheOnlyStoreToo() {
		this.plain.withPropertyValues("distributed-lock.provider=local")
			.withBean(OnlyLocal.class)
			.run((context) -> assertThat(context.getBean(OnlyLocal.class).local)
				.isSameAs(context.getBean(LockOperations.class)));
	}

	@Test
	void unnamedStoreIsNotSetUpBesideOthers() {
		this.plain.withPropertyValues("distributed-lock.provider=none")
			.withUserConfiguration(AdditionalProvider.class)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(JdbcLockProvider.class));
	}

	@Test
	void methodIsLockedInTheStoreThatItNames() {
		this.runner.withBean(Stores.class).withBean(Jobs.class).run((context) -> {
			Stores stores = context.getBean(Stores.class);
			Jobs jobs = context.getBean(Jobs.class);
			try (LockLease held = stores.local.acquire(REQUEST)) {
				assertThat(held.isHeld()).isTrue();
				assertThat(jobs.run()).isEqualTo("jdbc");
				assertThat(jobs.named()).isEqualTo("jdbc");
				assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(jobs::runLocally);
				assertThat(jobs.skipLocally()).isNull();
				assertThat(jobs.fallBackLocally()).isEqualTo("fallback");
				assertThat(jobs.scheduleLocally()).isNull();
			}
			assertThat(jobs.runLocally()).isEqualTo("local");
			assertThat(jobs.future().join()).isEqualTo("local");
		});
	}

	@Test
	void lockOfAnotherStoreIsNotJoined() {
		this.runner.withBean(Stores.class).withBean(Jobs.class).run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			assertThat(jobs.both(jobs)).isEqualTo("jdbc and local");
			LockLease held = context.getBean(Stores.class).local.acquire(REQUEST);
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> jobs.both(jobs));
			held.close();
		});
	}

	@Test
	void metersAreTaggedWithTheProvider() {
		SimpleMeterRegistry registry = new SimpleMeterRegistry();
		this.runner.withBean(MeterRegistry.class, () -> registry)
			.withBean(Stores.class)
			.withBean(Jobs.class)
			.run((context) -> {
				Jobs jobs = context.getBean(Jobs.class);
				jobs.run();
				jobs.runLocally();
				jobs.runLocally();
				jobs.unlocked();
				try (LockLease held = context.getBean(Stores.class).local.acquire(REQUEST)) {
					assertThat(held.isHeld()).isTrue();
					jobs.skipLocally();
				}
				assertThat(acquired(registry, "jdbc")).isEqualTo(1);
				assertThat(acquired(registry, "local")).isEqualTo(3);
				assertThat(count(registry, "distributed.lock.skipped", "local")).isEqualTo(1);
				assertThat(count(registry, "distributed.lock.skipped", "jdbc")).isZero();
				assertThat(count(registry, "distributed.lock.unlocked", "local")).isEqualTo(1);
				assertThat(count(registry, "distributed.lock.unlocked", "jdbc")).isZero();
			});
	}

	private static long acquired(MeterRegistry registry, String provider) {
		return registry.get("distributed.lock.acquire")
			.tags("lock.name", "Jobs.run", "lock.provider", provider, "outcome", "acquired")
			.timer()
			.count();
	}

	private static double count(MeterRegistry registry, String meter, String provider) {
		return registry.get(meter).tags("lock.name", "Jobs.run", "lock.provider", provider).counter().count();
	}

	@Test
	void ownObserversAreAskedForTheirPart() {
		LockObserver observer = mock(LockObserver.class);
		LockObserver ofLocal = mock(LockObserver.class);
		given(observer.ofProvider("local")).willReturn(ofLocal);
		this.runner.withBean(LockObserver.class, () -> observer).withBean(Jobs.class).run((context) -> {
			context.getBean(Jobs.class).runLocally();
			context.getBean(Jobs.class).unlocked();
			then(ofLocal).should().onAcquireStart(LockKey.of("Jobs.run"), LockMode.EXCLUSIVE);
			then(ofLocal).should().onUnlockedCall("Jobs.run");
			then(observer).should(never()).onAcquireStart(any(), any());
			then(observer).should(never()).onUnlockedCall(any());
		});
	}

	@Test
	void eventsNameTheProvider() {
		CompletableFuture<LockLostEvent> lost = new CompletableFuture<>();
		CompletableFuture<LockBusyEvent> busy = new CompletableFuture<>();
		this.runner.withBean(Stores.class)
			.withInitializer((context) -> context.addApplicationListener((PayloadApplicationEvent<?> event) -> {
				if (event.getPayload() instanceof LockLostEvent loss) {
					lost.complete(loss);
				}
				if (event.getPayload() instanceof LockBusyEvent refusal) {
					busy.complete(refusal);
				}
			}))
			.run((context) -> {
				LockTemplate local = context.getBean(Stores.class).local;
				local.acquire(REQUEST);
				local.tryAcquire(REQUEST);
				local.forceRelease(LockKey.of("Jobs.run"));
				assertThat(busy.get(60, SECONDS).provider()).isEqualTo("local");
				assertThat(lost.get(60, SECONDS).provider()).isEqualTo("local");
			});
	}

	@Test
	void commitUnderALostLockOfAnAdditionalStoreIsRefused() {
		this.runner.withBean(Stores.class).withBean(Jobs.class).run((context) -> {
			LockTemplate local = context.getBean(Stores.class).local;
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> context.getBean(Jobs.class).transaction(local));
			assertThat(TransactionProbe.committedInsideLock()).isFalse();
		});
	}

	@Test
	void additionalStoreThatIsDownFailsTheStartWithFailFast() {
		LockProvider down = named("audit");
		willThrow(new LockProviderException(LockError.STORE_FAILED, "audit", "is down", null)).given(down).check(any());
		this.plain.withPropertyValues("distributed-lock.provider=local")
			.withBean("audit", LockProvider.class, () -> down)
			.run((context) -> assertThat(context).hasNotFailed());
		this.plain.withPropertyValues("distributed-lock.provider=local", "distributed-lock.fail-fast=true")
			.withBean("audit", LockProvider.class, () -> down)
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("DL-703")
				.hasMessageContaining("'audit'"));
	}

	@Test
	void allEnginesStopAndStartAgain() {
		this.runner.withBean(Stores.class).run((context) -> {
			Stores stores = context.getBean(Stores.class);
			context.getSourceApplicationContext().stop();
			assertRefused(stores.primary);
			assertRefused(stores.local);
			context.getSourceApplicationContext().start();
			stores.primary.acquire(REQUEST).close();
			stores.local.acquire(REQUEST).close();
		});
	}

	@Test
	void oneEngineRefusesWhileTheStopWaitsForABodyOfTheOther() {
		this.runner.withPropertyValues("distributed-lock.shutdown.grace-period=1m")
			.withBean(Stores.class)
			.run((context) -> {
				Stores stores = context.getBean(Stores.class);
				LockLease held = stores.primary.acquire(REQUEST);
				CompletableFuture<Void> stopped = CompletableFuture
					.runAsync(() -> context.getBean(LockEngines.class).stop(), (task) -> new Thread(task).start());
				await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> assertRefused(stores.local));
				assertThat(stopped).isNotDone();
				assertThat(held.isHeld()).isTrue();
				held.close();
				stopped.get(60, SECONDS);
			});
	}

	private static void assertRefused(LockTemplate locks) {
		assertThat(catchThrowable(() -> locks.acquire(REQUEST).close())).isInstanceOf(LockProviderException.class)
			.hasMessageContaining("DL-303");
	}

	@Test
	void secondProviderOfTheApplicationGetsItsEngine() {
		this.plain.withPropertyValues("distributed-lock.provider=jdbc")
			.withUserConfiguration(AuditProvider.class)
			.withBean(AuditJobs.class)
			.run((context) -> {
				AuditJobs jobs = context.getBean(AuditJobs.class);
				assertThat(jobs.byBean()).isEqualTo("local");
				assertThat(jobs.byName()).isEqualTo("local");
				assertThat(jobs.locks()).isSameAs(context.getBean("distributedLockTemplate.auditLocks"))
					.isNotSameAs(context.getBean(LockTemplate.class));
			});
	}

	@Test
	void primaryThatOnlyItsOwnNameTellsHasAllQualifiers() {
		this.plain.withPropertyValues("distributed-lock.provider=Second")
			.withBean("a", LockProvider.class, () -> named("first"))
			.withBean("b", LockProvider.class, () -> named("second"))
			.withBean(Letters.class)
			.run((context) -> {
				Letters letters = context.getBean(Letters.class);
				assertThat(letters.b).isSameAs(context.getBean(LockOperations.class)).isNotSameAs(letters.a);
				assertThat(letters.a.snapshot().provider()).isEqualTo("first");
			});
	}

	@Test
	void ownProviderMakesUnnamedStoresBackOff() {
		this.plain.withBean("mine", LockProvider.class, () -> named("mine"))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(LockProvider.class)
				.doesNotHaveBean(JdbcLockProvider.class));
	}

	@Test
	void unknownProviderOfAMethodFailsTheStart() {
		this.runner.withBean(Unknown.class)
			.run((context) -> assertUnknown(context.getStartupFailure(),
					"its provider is 'redsi', but the application has only: jdbc, local"));
	}

	@Test
	void unknownProviderOfALazyBeanIsRefusedWhenCreated() {
		this.runner.withBean(Unknown.class, Unknown::new, (definition) -> definition.setLazyInit(true))
			.withBean(Stores.class)
			.withBean("other", Jobs.class, Jobs::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertUnknown(catchThrowable(() -> context.getBean(Unknown.class)), "its provider is 'redsi'");
				assertThat(context.getBean(Jobs.class).run()).isEqualTo("jdbc");
				assertThat(context.getBean(Jobs.class).runLocally()).isEqualTo("local");
				assertUnknown(catchThrowable(() -> context.getBean(Unknown.class)), "its provider is 'redsi'");
			});
	}

	@Test
	void shortestHoldIsAskedOfTheStoreThatTheMethodNames() {
		this.runner.withBean("sessions", LockProvider.class, () -> named("sessions"))
			.withBean(Kept.class)
			.run((context) -> assertThat(mistake(context.getStartupFailure())).isNotNull()
				.hasMessageStartingWith("DL-618: The locked method " + Kept.class.getName() + ".run() has a minHold of")
				.hasMessageContaining("'sessions'"));
		this.runner.withBean(KeptInDatabase.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void shortestHoldIsComparedWithTheDefaultOfTheLongestHold() {
		this.runner.withPropertyValues("distributed-lock.max-hold=500ms")
			.withBean(KeptInDatabase.class)
			.run((context) -> assertThat(mistake(context.getStartupFailure())).isNotNull()
				.hasMessage("DL-515: The locked method " + KeptInDatabase.class.getName()
						+ ".run() has a minHold of PT1S,"
						+ " but the longest hold (distributed-lock.max-hold) is PT0.5S. Set maxHold of the method, or"
						+ " distributed-lock.max-hold, to more than the minHold"));
	}

	@Test
	void providerOfAParentHasItsEngine() {
		new ApplicationContextRunner().withBean("mapProvider", LockProvider.class, LocalLockProvider::new)
			.run((parent) -> this.plain.withParent(parent)
				.withPropertyValues("distributed-lock.provider=jdbc")
				.withBean(InMap.class)
				.run((context) -> {
					assertThat(context).hasNotFailed();
					assertThat(context.getBean(InMap.class).run()).isEqualTo("local");
				}));
	}

	@Test
	void onlyAdditionalStoresFailTheStart() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withUserConfiguration(AdditionalProvider.class)
			.withBean(LockUser.class)
			.run((context) -> assertThat(mistake(context.getStartupFailure())).isNotNull()
				.hasMessage("DL-701: All stores of the application are additional ones (LockProvider beans with"
						+ " defaultCandidate=false: local), and none is the primary one. Name the store of methods"
						+ " without a provider with distributed-lock.provider"));
	}

	private static void assertUnknown(@Nullable Throwable failure, String fact) {
		assertThat(mistake(failure)).isInstanceOfSatisfying(LockConfigurationException.class, (ex) -> {
			assertThat(ex.error()).isEqualTo(LockError.UNKNOWN_PROVIDER);
			assertThat(ex).hasMessageStartingWith("DL-705: The method " + Unknown.class.getName() + ".run() cannot")
				.hasMessageContaining(fact)
				.hasMessageContaining("define a LockProvider bean of that name");
		});
	}

	private static @Nullable Throwable mistake(@Nullable Throwable failure) {
		Throwable cause = failure;
		while (cause != null && !(cause instanceof LockConfigurationException)) {
			cause = cause.getCause();
		}
		return cause;
	}

	@Test
	void twoProvidersOfOneNameAreToldApartByTheirBeans() {
		this.plain.withPropertyValues("distributed-lock.provider=local")
			.withUserConfiguration(AuditProvider.class)
			.withBean("archiveLocks", LockProvider.class, () -> named("local"))
			.withBean(ByName.class)
			.run((context) -> assertThat(mistake(context.getStartupFailure())).isNotNull()
				.hasMessageContaining("distributed-lock.provider is 'local'")
				.hasMessageContaining("archiveLocks"));
	}

	@Test
	void blankProviderCountsAsUnset(CapturedOutput output) {
		this.plain.withPropertyValues("distributed-lock.provider=")
			.run((context) -> assertThat(output).contains("store 'jdbc' (the only candidate)"));
	}

	@Test
	void severalPrimariesToChooseFromAreStillListed() {
		this.plain.withBean("a", LockProvider.class, () -> named("first"))
			.withBean("b", LockProvider.class, () -> named("second"))
			.withUserConfiguration(AdditionalProvider.class)
			.run((AssertableApplicationContext context) -> assertThat(mistake(context.getStartupFailure())).isNotNull()
				.hasMessageContaining("DL-702")
				.hasMessageContaining("first, second"));
	}

	private static LockProvider named(String name) {
		LockProvider provider = mock(LockProvider.class);
		given(provider.name()).willReturn(name);
		return provider;
	}

	static class InMap {

		@DistributedLock(name = "map", provider = "mapProvider")
		public String run() {
			return "local";
		}

	}

	static class Kept {

		@DistributedLock(name = "kept", minHold = "1s", provider = "sessions")
		public void run() {
			// Not called.
		}

	}

	static class KeptInDatabase {

		@DistributedLock(name = "kept", minHold = "1s", provider = "jdbc")
		public void run() {
			// Not called.
		}

	}

	static class Stores {

		@Autowired
		LockTemplate primary;

		@Autowired
		@Qualifier("jdbc")
		LockOperations jdbc;

		@Autowired
		@Qualifier("local")
		LockTemplate local;

	}

	static class OnlyLocal {

		@Autowired
		@Qualifier("local")
		LockOperations local;

	}

	static class Letters {

		@Autowired
		@Qualifier("a")
		LockTemplate a;

		@Autowired
		@Qualifier("b")
		LockTemplate b;

	}

	static class Jobs {

		@Autowired(required = false)
		@Nullable Stores stores;

		@DistributedLock(name = "Jobs.run")
		String run() {
			return holder();
		}

		@DistributedLock(name = "Jobs.run", provider = "JDBC")
		String named() {
			return holder();
		}

		@DistributedLock(name = "Jobs.run", provider = "local")
		String runLocally() {
			return holder();
		}

		@DistributedLock(name = "Jobs.run", provider = "${app.store:local}", onBusy = OnBusy.SKIP)
		String skipLocally() {
			return holder();
		}

		@ScheduledLock(name = "Jobs.run", minHold = "1m", provider = "local")
		String scheduleLocally() {
			return holder();
		}

		@DistributedLock(name = "Jobs.run", provider = "local", fallback = "fallback")
		String fallBackLocally() {
			return holder();
		}

		String fallback() {
			return "fallback";
		}

		@DistributedLock(name = "Jobs.run", provider = "local")
		CompletableFuture<String> future() {
			return CompletableFuture.completedFuture(holder());
		}

		@DistributedLock(name = "Jobs.run", provider = "local", condition = "false")
		void unlocked() {
		}

		@DistributedLock(name = "Jobs.run")
		String both(Jobs proxy) {
			return holder() + " and " + proxy.runLocally();
		}

		@Transactional
		@DistributedLock(name = "Jobs.run", provider = "local")
		void transaction(LockTemplate local) {
			TransactionProbe.register();
			local.forceRelease(LockKey.of("Jobs.run"));
		}

		/** Returns the provider of the innermost lock. */
		private String holder() {
			long token = LockContext.current().fencingToken().value();
			boolean locally = this.stores == null
					|| this.stores.local.snapshot().held().stream().anyMatch((held) -> held.token().value() == token);
			return locally ? "local" : "jdbc";
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class AdditionalProvider {

		@Bean(defaultCandidate = false)
		LocalLockProvider local() {
			return new LocalLockProvider();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class AuditProvider {

		@Bean(defaultCandidate = false)
		LocalLockProvider auditLocks() {
			return new LocalLockProvider();
		}

	}

	static class AuditJobs {

		@Autowired
		@Qualifier("auditLocks")
		LockTemplate locks;

		@DistributedLock(provider = "auditLocks")
		String byBean() {
			return state();
		}

		@DistributedLock(provider = "local")
		String byName() {
			return state();
		}

		LockTemplate locks() {
			return this.locks;
		}

		private String state() {
			return this.locks.snapshot().held().isEmpty() ? "elsewhere" : this.locks.snapshot().provider();
		}

	}

	static class ByName {

		@DistributedLock(provider = "local")
		void run() {
		}

	}

	static class Unknown {

		@DistributedLock(provider = "redsi")
		void run() {
		}

	}

}
