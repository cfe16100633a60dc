package io.distributedlock.autoconfigure;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Mono;

import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockFailureHandler;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.OnBusy;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.observe.LockMetricsAutoConfiguration;
import io.distributedlock.interceptor.LockAdvisor;
import io.distributedlock.provider.LockObserver;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

@ExtendWith(OutputCaptureExtension.class)
@Tag("full")
class BusyLockTests {

	private static final LockKey KEY = LockKey.of("jobs");

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LockMetricsAutoConfiguration.class))
		.withPropertyValues("distributed-lock.provider=local", "distributed-lock.wait-time=0")
		.withBean(Jobs.class);

	private final ApplicationContextRunner measured = this.runner.withBean(MeterRegistry.class, () -> this.registry);

	@Test
	void skippedCallsAreCounted() {
		this.measured.run(whileBusy((context) -> {
			assertThat(skips()).isZero();
			assertThat(context.getBean(Jobs.class).skip()).isEmpty();
			assertThat(context.getBean(Jobs.class).skipMono().blockOptional()).isEmpty();
			assertThat(skips()).isEqualTo(2);
			assertThat(catchThrowable(() -> context.getBean(Jobs.class).run()))
				.isInstanceOf(LockNotAcquiredException.class);
			assertThat(skips()).isEqualTo(2);
		}));
	}

	@Test
	void skippedCallsAreLoggedInOneLine(CapturedOutput output) {
		LoggingSystem logging = LoggingSystem.get(getClass().getClassLoader());
		logging.setLogLevel("io.distributedlock.interceptor", LogLevel.DEBUG);
		try {
			this.runner.run(whileBusy((context) -> context.getBean(Jobs.class).skip()));
		}
		finally {
			logging.setLogLevel("io.distributedlock.interceptor", null);
		}
		assertThat(output.getOut().lines()).anySatisfy((line) -> assertThat(line).contains("DEBUG")
			.contains("Skipped the call of " + Jobs.class.getName() + ".skip()")
			.contains("the lock 'jobs' with the key 'jobs' is held by '")
			.contains(":" + ProcessHandle.current().pid() + "'"));
	}

	@Test
	void cacheInsideTheLockKeepsNoSkippedResult() {
		this.runner.withUserConfiguration(CacheInside.class).run((context) -> {
			whileBusy((busy) -> assertThat(context.getBean(CachedJobs.class).find()).isNull()).accept(context);
			assertThat(context.getBean(CachedJobs.class).find()).isEqualTo("found");
		});
	}

	@Test
	void cacheOutsideTheLockKeepsASkippedResultUnlessExcluded() {
		this.runner.withUserConfiguration(CacheOutside.class).run((context) -> {
			CachedJobs jobs = context.getBean(CachedJobs.class);
			whileBusy((busy) -> {
				assertThat(jobs.find()).isNull();
				assertThat(jobs.findUnlessNull()).isNull();
				assertThat(catchThrowable(jobs::findOrFail)).isInstanceOf(LockNotAcquiredException.class);
			}).accept(context);
			assertThat(jobs.find()).isNull();
			assertThat(jobs.findUnlessNull()).isEqualTo("found");
			assertThat(jobs.findOrFail()).isEqualTo("found");
		});
	}

	@Test
	void skipNeedsNoObserver() {
		this.runner.run(whileBusy((context) -> assertThat(context.getBean(Jobs.class).skip()).isEmpty()));
	}

	@Test
	void observerThatFailsDoesNotAffectTheCall(CapturedOutput output) {
		this.measured.withBean("failing", LockObserver.class, FailingObserver::new).run(whileBusy((context) -> {
			assertThat(context.getBean(Jobs.class).skip()).isEmpty();
			assertThat(skips()).isEqualTo(1);
			assertThat(output).contains("A lock observer failed");
		}));
	}

	@Test
	void skipsOfAChildContextReachTheObserversOfItsParent() {
		this.measured.run(whileBusy((parent) -> new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.provider=local", "distributed-lock.wait-time=0")
			.withParent(parent.getSourceApplicationContext())
			.withBean("childJobs", Jobs.class)
			.run((child) -> {
				assertThat(child).hasNotFailed();
				assertThat(child.getBean("childJobs", Jobs.class).skip()).isEmpty();
				assertThat(skips()).isEqualTo(1);
			})));
	}

	@Test
	void observersAreNotCreatedForTheProxies() {
		this.runner.withUserConfiguration(LazyObserver.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(Jobs.class)).isNotNull();
		});
	}

	@Test
	void handlerBeanAnswersBusyCalls() {
		this.runner.withBean(LockFailureHandler.class, () -> (failure, method, target, args) -> "handled")
			.run(whileBusy((context) -> assertThat(context.getBean(Jobs.class).text()).isEqualTo("handled")));
	}

	@Test
	void handlerOfAParentAnswersBusyCallsOfItsChildren() {
		this.runner.withBean(LockFailureHandler.class, () -> (failure, method, target, args) -> "handled")
			.run(whileBusy((parent) -> new ApplicationContextRunner()
				.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
				.withPropertyValues("distributed-lock.provider=local", "distributed-lock.wait-time=0")
				.withParent(parent.getSourceApplicationContext())
				.withBean("childJobs", Jobs.class)
				.run((child) -> assertThat(child.getBean("childJobs", Jobs.class).text()).isEqualTo("handled"))));
	}

	@Test
	void exceptionOfTheBodyOfAMonoIsNotHandled() {
		LockNotAcquiredException busy = new LockNotAcquiredException(LockKey.of("other"), Duration.ZERO, null);
		this.runner.withBean(LockFailureHandler.class, () -> (failure, method, target, args) -> Mono.just("handled"))
			.run((context) -> assertThat(catchThrowable(() -> context.getBean(Jobs.class).mono(busy).block()))
				.isSameAs(busy));
	}

	@Test
	void exceptionOfTheBodyOfAFutureIsNotHandled() {
		LockNotAcquiredException busy = new LockNotAcquiredException(LockKey.of("other"), Duration.ZERO, null);
		this.runner.withBean(LockFailureHandler.class, () -> (failure, method, target, args) -> {
			throw new IllegalStateException("handled");
		}).run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			assertThat(catchThrowable(() -> jobs.future(busy, false))).isSameAs(busy);
			assertThat(catchThrowable(() -> jobs.future(busy, true).join())).hasCause(busy);
		});
	}

	@Test
	void severalHandlersFailTheStart() {
		this.runner.withUserConfiguration(TwoHandlers.class)
			.run((context) -> assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> {
				throw context.getStartupFailure();
			})
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.SEVERAL_FAILURE_HANDLERS))
				.withMessageContaining("first")
				.withMessageContaining("second"));
	}

	@Test
	void oneOfSeveralHandlersMayBePrimary() {
		this.runner.withBean("other", LockFailureHandler.class, () -> (failure, method, target, args) -> "not chosen")
			.withBean("chosen", LockFailureHandler.class, () -> (failure, method, target, args) -> "chosen",
					(definition) -> definition.setPrimary(true))
			.run(whileBusy((context) -> assertThat(context.getBean(Jobs.class).text()).isEqualTo("chosen")));
	}

	@Test
	void asynchronousMethodsAreSkipped() {
		this.measured.withUserConfiguration(Asynchronous.class).run(whileBusy((context) -> {
			AsyncJobs jobs = context.getBean(AsyncJobs.class);
			jobs.nothing();
			assertThat(jobs.future().get(1, MINUTES)).isEmpty();
			assertThat(jobs.completableFuture().get(1, MINUTES)).isEmpty();
			assertThat(jobs.fallingBack().get(1, MINUTES)).isEqualTo("stale");
			await().atMost(Duration.ofMinutes(1)).until(() -> skips() == 3);
		}));
	}

	@Test
	void fallbackThatOnlyTheClassOfTheTargetHasIsAccepted() {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean(Source.class, SourceWithFallback::new)
			.run(whileBusy((context) -> assertThat(context.getBean(Source.class).read()).isEqualTo("stale")));
	}

	@Test
	void fallbackThatNoLayerHasFailsTheStart() {
		this.runner.withBean(Source.class, BusyLockTests::withoutClass).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).hasStackTraceContaining("DL-616")
				.hasStackTraceContaining("'stale'");
		});
	}

	private static Source withoutClass() {
		return (Source) Proxy.newProxyInstance(BusyLockTests.class.getClassLoader(), new Class<?>[] { Source.class },
				(proxy, method, args) -> "fresh");
	}

	private double skips() {
		return this.registry.get("distributed.lock.skipped")
			.tags("lock.name", "jobs", "lock.provider", "local")
			.counter()
			.count();
	}

	private static ContextConsumer<AssertableApplicationContext> whileBusy(
			ContextConsumer<AssertableApplicationContext> body) {
		return (context) -> {
			assertThat(context).hasNotFailed();
			try (LockLease lease = context.getBean(LockOperations.class).acquire(LockRequest.of(KEY))) {
				assertThat(lease.isHeld()).isTrue();
				body.accept(context);
			}
		};
	}

	static class Jobs {

		@DistributedLock(name = "jobs")
		void run() {
		}

		@DistributedLock(name = "jobs")
		String text() {
			return "done";
		}

		@DistributedLock(name = "jobs", onBusy = OnBusy.SKIP)
		List<String> skip() {
			return List.of("done");
		}

		@DistributedLock(name = "jobs", onBusy = OnBusy.SKIP)
		Mono<String> skipMono() {
			return Mono.just("done");
		}

		@DistributedLock(name = "jobs")
		CompletableFuture<String> future(RuntimeException failure, boolean later) {
			if (later) {
				return CompletableFuture.failedFuture(failure);
			}
			throw failure;
		}

		@DistributedLock(name = "jobs")
		Mono<String> mono(Throwable failure) {
			return Mono.error(failure);
		}

	}

	interface Source {

		@DistributedLock(name = "jobs", fallback = "stale")
		String read();

	}

	static class SourceWithFallback implements Source {

		@Override
		public String read() {
			return "fresh";
		}

		private String stale() {
			return "stale";
		}

	}

	static class AsyncJobs {

		@Async
		@DistributedLock(name = "jobs", onBusy = OnBusy.SKIP)
		public void nothing() {
		}

		@Async
		@DistributedLock(name = "jobs", onBusy = OnBusy.SKIP)
		public Future<Optional<String>> future() {
			return CompletableFuture.completedFuture(Optional.of("done"));
		}

		@Async
		@DistributedLock(name = "jobs", onBusy = OnBusy.SKIP)
		public CompletableFuture<List<String>> completableFuture() {
			return CompletableFuture.completedFuture(List.of("done"));
		}

		@Async
		@DistributedLock(name = "jobs", fallback = "stale")
		public CompletableFuture<String> fallingBack() {
			return CompletableFuture.completedFuture("done");
		}

		protected CompletableFuture<String> stale(LockException ex) {
			return CompletableFuture.completedFuture("stale");
		}

	}

	static class FailingObserver implements LockObserver {

		@Override
		public void onSkip(LockKey key) {
			throw new IllegalStateException("test");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	static class Asynchronous {

		@Bean
		AsyncJobs asyncJobs() {
			return new AsyncJobs();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyObserver {

		@Bean
		LockObserver observer(Jobs jobs) {
			assertThat(AopUtils.isAopProxy(jobs)).isTrue();
			return new LockObserver() {
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoHandlers {

		@Bean
		LockFailureHandler first() {
			return (failure, method, target, args) -> null;
		}

		@Bean
		LockFailureHandler second() {
			return (failure, method, target, args) -> null;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableCaching
	@Import({ CachedJobs.class, ConcurrentMapCacheManager.class })
	static class CacheInside {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableCaching(order = LockAdvisor.DEFAULT_ORDER - 1)
	@Import({ CachedJobs.class, ConcurrentMapCacheManager.class })
	static class CacheOutside {

	}

	static class CachedJobs {

		@Cacheable("found")
		@DistributedLock(name = "jobs", onBusy = OnBusy.SKIP)
		public @Nullable String find() {
			return "found";
		}

		@Cacheable(cacheNames = "notNull", unless = "#result == null")
		@DistributedLock(name = "jobs", onBusy = OnBusy.SKIP)
		public @Nullable String findUnlessNull() {
			return "found";
		}

		@Cacheable("failing")
		@DistributedLock(name = "jobs")
		public String findOrFail() {
			return "found";
		}

	}

}
