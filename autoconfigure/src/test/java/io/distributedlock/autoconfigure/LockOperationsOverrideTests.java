package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Lock;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.TestContextManager;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.bean.override.convention.TestBean;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

import io.distributedlock.LockCallback;
import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.jdbc.JdbcLockAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockMetricsAutoConfiguration;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.interceptor.RecordingLockOperations;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.NoLockProvider;
import io.distributedlock.provider.LockProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.times;

/** Locks that a test or an application puts in the place of, or around, the engine's. */
class LockOperationsOverrideTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				JdbcLockAutoConfiguration.class, DataSourceAutoConfiguration.class))
		.withPropertyValues("spring.application.name=shop", "spring.datasource.generate-unique-name=true");

	@Test
	void decoratorSeesAnnotatedCallsAndTheEngineRunsThem() {
		this.runner.withPropertyValues("distributed-lock.provider=local")
			.withUserConfiguration(Decorated.class)
			.withBean(Job.class)
			.withBean(NamesLocal.class)
			.run((context) -> {
				assertThat(context.getBean(Job.class).run()).isEqualTo("Job.run");
				assertThat(context.getBean(NamesLocal.class).run()).isEqualTo("NamesLocal.run");
				assertThat(context.getBean(Counted.class).count).isEqualTo(2);
			});
	}

	@Test
	void ownOperationsNeedNoStore() {
		RecordingLockOperations own = new RecordingLockOperations();
		this.runner.withBean(LockOperations.class, () -> own).withBean(Job.class).run((context) -> {
			assertThat(context).doesNotHaveBean(LockProvider.class).doesNotHaveBean(LockTemplate.class);
			context.getBean(Job.class).run();
			assertThat(own.keys()).containsExactly("Job.run");
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "distributedLockProvider", "distributedLockEtcdProvider" })
	void ownProviderMayHaveAnyName(String name) {
		LockProvider own = new LocalLockProvider();
		this.runner.withBean(name, LockProvider.class, () -> own).withBean(Job.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(LockProvider.class)).isSameAs(own);
			assertThat(context.getBean(Job.class).run()).isEqualTo("Job.run");
		});
	}

	@Test
	void methodMayNameOwnOperations() {
		RecordingLockOperations one = new RecordingLockOperations();
		RecordingLockOperations two = new RecordingLockOperations();
		this.runner.withBean("one", LockOperations.class, () -> one, (bean) -> bean.setPrimary(true))
			.withBean("two", LockOperations.class, () -> two)
			.withBean(NamesTwo.class)
			.run((context) -> {
				context.getBean(NamesTwo.class).run();
				assertThat(two.keys()).containsExactly("NamesTwo.run");
				assertThat(one.requests()).isEmpty();
			});
		this.runner.withBean("one", LockOperations.class, () -> one)
			.withBean(NamesTwo.class)
			.run((context) -> assertThat(mistake(context.getStartupFailure()))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.UNKNOWN_PROVIDER))
				.hasMessageContaining(NamesTwo.class.getName() + ".run()")
				.hasMessageContaining("'two'"));
	}

	@Test
	void severalOwnOperationsFailTheStart() {
		ApplicationContextRunner two = this.runner.withBean("one", LockOperations.class, RecordingLockOperations::new)
			.withBean("two", LockOperations.class, RecordingLockOperations::new);
		two.run((context) -> assertThat(context).hasNotFailed());
		two.withBean(Job.class)
			.run((context) -> assertThat(mistake(context.getStartupFailure()))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.SEVERAL_OPERATIONS))
				.hasMessageStartingWith("DL-706: The method " + Job.class.getName() + ".")
				.hasMessageContaining("[one, two]")
				.hasMessageContaining("@Primary"));
	}

	private static LockConfigurationException mistake(@Nullable Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof LockConfigurationException ex) {
				return ex;
			}
		}
		throw new AssertionError("No LockConfigurationException", failure);
	}

	@Nested
	@DirtiesContext
	@SpringJUnitConfig(Application.class)
	class MockWithoutAStore {

		@MockitoBean
		private LockOperations locks;

		@Test
		void takesThePlaceOfTheEngine(@Autowired Job job) {
			given(this.locks.execute(any(LockRequest.class), any()))
				.willThrow(new LockNotAcquiredException(LockKey.of("x"), Duration.ZERO, null));
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(job::run);
		}

	}

	@Nested
	@DirtiesContext
	@SpringJUnitConfig(NamingApplication.class)
	@TestPropertySource(properties = "distributed-lock.provider=local")
	class MockBesideSeveralStores {

		@MockitoBean
		private LockOperations locks;

		@Autowired
		@Qualifier("none")
		private LockOperations none;

		@Autowired
		@Qualifier("local")
		private LockOperations local;

		@Test
		void takesThePlaceOfThePrimaryOnly(@Autowired Job job, @Autowired NamesLocal named,
				@Autowired ApplicationContext context) {
			assertThat(job.run()).isNull();
			assertThat(named.run()).isNull();
			then(this.locks).should(times(2)).execute(any(LockRequest.class), any());
			assertThat(this.none).isInstanceOf(LockTemplate.class);
			assertThat(this.local).isSameAs(this.locks).isSameAs(context.getBean(LockOperations.class));
		}

	}

	@Nested
	@DirtiesContext
	@SpringJUnitConfig(NamingApplication.class)
	@TestPropertySource(properties = "distributed-lock.provider=local")
	class MockOfAnAdditionalStore {

		@MockitoBean(name = "distributedLockTemplate.none")
		private LockOperations none;

		@Test
		void takesItsPlaceByName(@Autowired Job job, @Autowired NamesNone other) {
			assertThat(job.run()).isEqualTo("Job.run");
			assertThat(other.run()).isNull();
			then(this.none).should().execute(any(LockRequest.class), any());
		}

	}

	@Nested
	@DirtiesContext
	@SpringJUnitConfig(NamingApplication.class)
	@TestPropertySource(properties = "distributed-lock.provider=local")
	class Spy {

		@MockitoSpyBean
		private LockOperations locks;

		@Test
		void isCalledAndLocks(@Autowired Job job) {
			assertThat(job.run()).isEqualTo("Job.run");
			then(this.locks).should().execute(any(LockRequest.class), any());
		}

	}

	@Nested
	@DirtiesContext
	@SpringJUnitConfig(NamingApplication.class)
	@TestPropertySource(properties = "distributed-lock.provider=local")
	class ObjectsInPlaceOfLockedBeans {

		@MockitoBean
		private Job mocked;

		@MockitoBean
		private Source interfaceWithoutFallback;

		@TestBean(methodName = "raw")
		private NamesNone raw;

		@Test
		void takeNoLock() {
			assertThat(this.mocked.run()).isNull();
			assertThat(this.interfaceWithoutFallback.read()).isNull();
			assertThat(this.raw.run()).isEqualTo("ran");
		}

		static NamesNone raw() {
			return new NamesNone();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DistributedLockAutoConfiguration.class, LockMetricsAutoConfiguration.class })
	@Import(Job.class)
	static class Application {

		@Bean
		MeterRegistry meters() {
			return new SimpleMeterRegistry();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Application.class, NamesLocal.class, NamesNone.class })
	static class NamingApplication {

		@Bean
		NoLockProvider none() {
			return new NoLockProvider();
		}

	}

	static class Job {

		@DistributedLock
		@Nullable String run() {
			return LockContext.current().keys().get(0).encoded();
		}

	}

	static class NamesLocal {

		@DistributedLock(provider = "local")
		@Nullable String run() {
			return LockContext.current().keys().get(0).encoded();
		}

	}

	static class NamesTwo {

		@DistributedLock(provider = "two")
		void run() {
		}

	}

	interface Source {

		@DistributedLock(fallback = "stale")
		@Nullable String read();

	}

	static class NamesNone {

		@DistributedLock(provider = "none")
		@Nullable String run() {
			return "ran";
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Decorated {

		@Bean
		@Primary
		Counted counted(LockTemplate engine) {
			return new Counted(engine);
		}

	}

	static class Counted implements LockOperations {

		private final LockOperations delegate;

		private int count;

		Counted(LockOperations delegate) {
			this.delegate = delegate;
		}

		@Override
		public @Nullable LockLease tryAcquire(LockRequest request) {
			return this.delegate.tryAcquire(request);
		}

		@Override
		public LockLease acquire(LockRequest request) {
			return this.delegate.acquire(request);
		}

		@Override
		public Lock asLock(LockRequest request) {
			return this.delegate.asLock(request);
		}

		@Override
		public CompletableFuture<LockLease> acquireAsync(LockRequest request, List<LockLease> enclosing) {
			return this.delegate.acquireAsync(request, enclosing);
		}

		@Override
		public <T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LockCallback<T, E> body)
				throws E {
			this.count++;
			return this.delegate.execute(request, body);
		}

		@Override
		public <T extends @Nullable Object, E extends Throwable> @Nullable CompletableFuture<T> executeAsync(
				LockRequest request, LockCallback<? extends @Nullable CompletionStage<T>, E> body) throws E {
			return this.delegate.executeAsync(request, body);
		}

	}

}
