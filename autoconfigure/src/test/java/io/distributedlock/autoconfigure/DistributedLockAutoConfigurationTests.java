package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.MockedStatic;
import reactor.core.publisher.Mono;

import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

import io.distributedlock.LockBusyEvent;
import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockListener;
import io.distributedlock.LockLostEvent;
import io.distributedlock.LockMode;
import io.distributedlock.LockOperations;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.redis.RedisQuorumProperties;
import io.distributedlock.autoconfigure.zookeeper.ZooKeeperLockProperties;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.interceptor.LockAdvisor;
import io.distributedlock.interceptor.LockAttributeSource;
import io.distributedlock.interceptor.RecordingLockOperations;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.NoLockProvider;
import io.distributedlock.provider.LockObserver;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.reactive.ReactiveLockTemplate;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.atLeastOnce;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.mockStatic;

@ExtendWith(OutputCaptureExtension.class)
class DistributedLockAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withBean(LockUser.class)
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class));

	private final ApplicationContextRunner local = this.runner.withPropertyValues("distributed-lock.provider=local");

	@Test
	void startFailsWithoutAStore() {
		this.runner.run((context) -> assertThat(context).getFailure()
			.rootCause()
			.isInstanceOfSatisfying(LockConfigurationException.class,
					(ex) -> assertThat(ex.error()).isEqualTo(LockError.NO_PROVIDER)));
	}

	@Test
	void localLocksWorkOnlyIfChosenByName() {
		this.local.withUserConfiguration(Jobs.class).run((context) -> {
			assertThat(context).hasSingleBean(LocalLockProvider.class)
				.hasSingleBean(LockTemplate.class)
				.doesNotHaveBean(NoLockProvider.class);
			assertThat(context.getBean(Job.class).run()).isEqualTo("Job.run");
		});
	}

	@Test
	void providerNoneRunsWithoutLocksAndWarns(CapturedOutput output) {
		this.runner.withPropertyValues("distributed-lock.provider=none").run((context) -> {
			assertThat(context).hasSingleBean(NoLockProvider.class).doesNotHaveBean(LocalLockProvider.class);
			assertThat(output).contains("WARN").contains("distributed-lock.provider=none");
		});
	}

	@Test
	void onlyProviderIsChosen() {
		this.runner.withBean("mine", LockProvider.class, () -> named("mine"))
			.run((context) -> assertThat(context.getBean(SelectedLockProvider.class).provider().name())
				.isEqualTo("mine"));
	}

	@Test
	void startLineNamesStoreReasonAndDefaults(CapturedOutput output) {
		this.local.withPropertyValues("distributed-lock.wait-time=250ms")
			.run((context) -> assertThat(output).contains("INFO")
				.containsOnlyOnce("Distributed locks: store 'local' (chosen by distributed-lock.provider), lease 30s,"
						+ " wait-time 250ms"));
	}

	@Test
	void startLineNamesTheOnlyOrThePrimaryCandidate(CapturedOutput output) {
		this.runner.withBean("mine", LockProvider.class, () -> named("mine"))
			.run((context) -> assertThat(output).contains("store 'mine' (the only candidate)"));
		this.runner.withUserConfiguration(TwoProviders.class)
			.run((context) -> assertThat(output).contains("store 'two' (the primary candidate)"));
	}

	@Test
	void severalProvidersAreListed() {
		this.runner.withBean("one", LockProvider.class, () -> named("one"))
			.withBean("two", LockProvider.class, () -> named("two"))
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(LockConfigurationException.class,
						(ex) -> assertThat(ex.error()).isEqualTo(LockError.SEVERAL_PROVIDERS))
				.hasMessageContaining("one, two"));
	}

	@Test
	void primaryOfSeveralProvidersIsChosen() {
		this.runner.withUserConfiguration(TwoProviders.class)
			.run((context) -> assertThat(context.getBean(SelectedLockProvider.class).provider().name())
				.isEqualTo("two"));
	}

	@Test
	void propertyChoosesAmongSeveralProviders() {
		this.runner.withUserConfiguration(TwoProviders.class)
			.withPropertyValues("distributed-lock.provider=one")
			.run((context) -> assertThat(context.getBean(SelectedLockProvider.class).provider().name())
				.isEqualTo("one"));
	}

	@Test
	void unknownProviderIsRefusedWithTheCandidates() {
		this.runner.withUserConfiguration(TwoProviders.class)
			.withPropertyValues("distributed-lock.provider=redis")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("DL-701")
				.hasMessageContaining("'redis'")
				.hasMessageContaining("one, two"));
	}

	@Test
	void everyBeanBacksOff() {
		this.local.withBean(LockSettings.class, LockSettings::defaults)
			.withBean(LockAttributeSource.class, () -> mock(LockAttributeSource.class))
			.run((context) -> assertThat(context).hasSingleBean(LockSettings.class)
				.hasSingleBean(LockAttributeSource.class));
	}

	@Test
	void applicationsOwnOperationsNeedNoStore() {
		RecordingLockOperations own = new RecordingLockOperations();
		this.runner.withBean(LockOperations.class, () -> own).withUserConfiguration(Jobs.class).run((context) -> {
			assertThat(context).doesNotHaveBean(LockTemplate.class).hasSingleBean(LockTimer.class);
			context.getBean(Job.class).run();
			assertThat(own.keys()).containsExactly("Job.run");
		});
	}

	@Test
	void propertiesReachTheEngine() {
		this.local
			.withPropertyValues("distributed-lock.lease=40s", "distributed-lock.wait-time=0",
					"distributed-lock.max-hold=10m", "distributed-lock.call-timeout=2s",
					"distributed-lock.hand-off.max-time=5ms", "distributed-lock.aop.order=7")
			.run((context) -> {
				assertThat(context.getBean(LockSettings.class)).isEqualTo(LockSettings.defaults()
					.withLease(Duration.ofSeconds(40))
					.withWaitTime(Duration.ZERO)
					.withMaxHold(Duration.ofMinutes(10))
					.withCallTimeout(Duration.ofSeconds(2))
					.withMaxHandOffTime(Duration.ofMillis(5)));
				assertThat(context.getBean(LockAdvisor.class).getOrder()).isEqualTo(7);
			});
	}

	@Test
	void orderOfTheAdvisorIsBoundInEverySpelling() {
		this.local.withPropertyValues("distributedLock.aop.ORDER=7")
			.run((context) -> assertThat(context.getBean(LockAdvisor.class).getOrder()).isEqualTo(7));
		this.local.withPropertyValues("distributedLock.aop.ORDER=1e3")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageStartingWith("DL-514: The property distributed-lock.aop.order is '1e3'"));
	}

	@Test
	void handOffCanBeSwitchedOff() {
		this.local.withPropertyValues("distributed-lock.hand-off.max-time=0")
			.run((context) -> assertThat(context.getBean(LockSettings.class).maxHandOffTime()).isNull());
	}

	@ParameterizedTest
	@CsvSource({ "lease,0,DL-511", "lease,-1s,DL-511", "wait-time,-1s,DL-512", "max-hold,0,DL-513",
			"call-timeout,0,DL-514", "call-timeout,2h,DL-514", "hand-off.max-time,-1ms,DL-514",
			"hand-off.max-time,2s,DL-514", "shutdown.grace-period,-1s,DL-514", "key-prefix,a{b}c,DL-514",
			"aop.order,abc,DL-514" })
	void invalidValueFailsWithTheNameOfTheProperty(String property, String value, String id) {
		this.local.withPropertyValues("distributed-lock." + property + "=" + value)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining(id)
				.hasMessageContaining("distributed-lock." + property));
	}

	@Test
	void passwordsAreNotPrinted() {
		assertThat(List.of(new RedisQuorumProperties.Node("redis://:secret@one", null, null, null, null, null),
				new RedisQuorumProperties.Node(null, "one", null, "locks", "secret", null),
				new ZooKeeperLockProperties.Auth("digest", "locks:secret")))
			.noneMatch((properties) -> properties.toString().contains("secret"));
	}

	@Test
	void reactiveTemplateIsThereWithReactor() {
		this.local.run((context) -> {
			LockKey key = LockKey.of("order", "42");
			assertThat(context.getBean(ReactiveLockTemplate.class)
				.execute(LockRequest.of(key), (lease) -> Mono.just(lease.keys()))
				.block()).containsExactly(key);
		});
		this.local.withClassLoader(new FilteredClassLoader(Mono.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(ReactiveLockTemplate.class));
		this.local
			.withBean("own", ReactiveLockTemplate.class, () -> new ReactiveLockTemplate(new RecordingLockOperations()))
			.run((context) -> assertThat(context).hasSingleBean(ReactiveLockTemplate.class).hasBean("own"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "jdbc" })
	void springBootThatIsTooOldIsNamed(String provider) {
		try (MockedStatic<SpringBootVersion> boot = mockStatic(SpringBootVersion.class)) {
			boot.when(SpringBootVersion::getVersion).thenReturn("3.5.9");
			this.runner.withPropertyValues("distributed-lock.provider=" + provider)
				.run((context) -> assertThat(context).getFailure()
					.rootCause()
					.hasMessageContaining("This is Spring Boot 3.5.9, but the stores need Spring Boot 4"));
		}
		this.runner.run((context) -> assertThat(context).getFailure()
			.rootCause()
			.hasMessageNotContaining("This is Spring Boot"));
	}

	@Test
	void listenersAndObserversAreNotified() {
		CompletableFuture<LockLease> acquired = new CompletableFuture<>();
		LockObserver observer = mock(LockObserver.class);
		this.local.withBean(LockListener.class, () -> new LockListener() {
			@Override
			public void onAcquired(LockLease lease) {
				acquired.complete(lease);
			}
		}).withBean(LockObserver.class, () -> observer).run((context) -> {
			context.getBean(LockOperations.class).acquire(LockRequest.of(LockKey.of("k"))).close();
			assertThat(acquired.get(30, SECONDS).keys()).containsExactly(LockKey.of("k"));
			then(observer).should().onAcquireStart(LockKey.of("k"), LockMode.EXCLUSIVE);
		});
	}

	@Test
	void lossesAndBusyLocksArePublishedAsEvents() {
		CompletableFuture<LockLostEvent> lost = new CompletableFuture<>();
		CompletableFuture<LockBusyEvent> busy = new CompletableFuture<>();
		this.local.withInitializer((context) -> context.addApplicationListener((PayloadApplicationEvent<?> event) -> {
			if (event.getPayload() instanceof LockLostEvent loss) {
				lost.complete(loss);
			}
			if (event.getPayload() instanceof LockBusyEvent refusal) {
				busy.complete(refusal);
			}
		})).run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			LockLease lease = locks.acquire(LockRequest.of(LockKey.of("k")));
			assertThat(locks.tryAcquire(LockRequest.of(LockKey.of("k")).shared().withWaitTime(Duration.ZERO))).isNull();
			assertThat(busy.get(30, SECONDS).key()).isEqualTo(LockKey.of("k"));
			assertThat(busy.join().mode()).isEqualTo(LockMode.SHARED);
			locks.forceRelease(LockKey.of("k"));
			assertThat(lost.get(30, SECONDS).reason()).isEqualTo(LossReason.FORCED);
			assertThat(lost.join().lease().keys()).isEqualTo(lease.keys());
		});
	}

	@Test
	void storeThatIsDownWarnsAtStart(CapturedOutput output) {
		this.runner.withBean(LockProvider.class, DistributedLockAutoConfigurationTests::down).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("WARN").contains("did not answer at start").contains("DL-301");
		});
	}

	@Test
	void storeThatDoesNotAnswerInTimeMayBeAnsweredTooSlowly(CapturedOutput output) {
		LockProvider silent = named("silent");
		willThrow(LockProviderException.nothingSent(LockError.STORE_TIMEOUT, "silent", "did not answer", null))
			.given(silent)
			.check(any());
		this.runner.withBean(LockProvider.class, () -> silent)
			.withBean(LockStoreLocation.class,
					() -> new LockStoreLocation("silent", "shop", "server", Duration.ofMillis(2), null))
			.withPropertyValues("distributed-lock.call-timeout=1ms")
			.run((context) -> {
				then(silent).should(atLeastOnce()).check(Duration.ofMillis(2));
				assertThat(output).contains("did not answer at start within 2 ms")
					.contains("a starting process may be slow itself");
			});
	}

	@Test
	void storeThatIsDownFailsTheStartWithFailFast() {
		this.runner.withBean(LockProvider.class, DistributedLockAutoConfigurationTests::down)
			.withPropertyValues("distributed-lock.fail-fast=true")
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOfSatisfying(LockConfigurationException.class,
						(ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_DOWN_AT_START))
				.hasCauseInstanceOf(LockProviderException.class));
	}

	@Test
	void mistakeInTheStoreAlwaysFailsTheStart() {
		LockProvider provider = named("mine");
		willThrow(new LockConfigurationException(LockError.TABLE_MISSING, "The table is missing", "Create it"))
			.given(provider)
			.check(any());
		this.runner.withBean(LockProvider.class, () -> provider)
			.run((context) -> assertThat(context).getFailure().hasMessageContaining("DL-304"));
	}

	@Test
	void closedContextRefusesLocks() {
		LockOperations[] operations = new LockOperations[1];
		this.local.run((context) -> operations[0] = context.getBean(LockOperations.class));
		assertThat(catchThrowable(() -> operations[0].acquire(LockRequest.of(LockKey.of("k")))))
			.hasMessageContaining("DL-303");
	}

	private static LockProvider named(String name) {
		LockProvider provider = mock(LockProvider.class);
		given(provider.name()).willReturn(name);
		return provider;
	}

	private static LockProvider down() {
		LockProvider provider = named("mine");
		willThrow(new LockProviderException(LockError.STORE_FAILED, "mine", "is down", null)).given(provider)
			.check(any());
		return provider;
	}

	@Configuration(proxyBeanMethods = false)
	static class TwoProviders {

		@Bean
		LockProvider one() {
			return named("one");
		}

		@Bean
		@Primary
		LockProvider two() {
			return named("two");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Jobs {

		@Bean
		Job job() {
			return new Job();
		}

	}

	static class Job {

		@DistributedLock
		String run() {
			return LockContext.current().keys().get(0).encoded();
		}

	}

}
