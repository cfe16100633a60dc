package io.distributedlock.autoconfigure;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.retry.annotation.Backoff;
import org.springframework.retry.annotation.RetryConfiguration;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.interceptor.LockAdvisor;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests of locked methods that are repeated, by Spring Framework and by Spring Retry.
 */
class RetriedMethodTests {

	private static final LockKey KEY = LockKey.of("retried");

	private static ConfigurableApplicationContext context;

	private CompositionJournal journal;

	private Work work;

	@BeforeAll
	static void start() {
		context = CompositionJournal.start(Application.class, "distributed-lock.provider=flaky");
	}

	@AfterAll
	static void stop() {
		context.close();
	}

	@BeforeEach
	void reset() {
		// A lock that was taken away is released in the background.
		context.getBean(LockOperations.class).acquire(LockRequest.of(KEY).withWaitTime(Duration.ofMinutes(1))).close();
		this.journal = CompositionJournal.of(context);
		this.work = context.getBean(Work.class);
		context.getBean(Failures.class).reset();
	}

	@Test
	void eachAttemptTakesTheLockAnew() {
		context.getBean(Failures.class).body.set(2);
		assertThat(this.work.repeated()).isEqualTo("done");
		assertThat(this.journal.takeAtEnd()).containsExactly("lock", "body", "unlock", "lock", "body", "unlock", "lock",
				"body", "unlock");
	}

	@Test
	void busyLockIsTriedAgain() {
		LockLease held = context.getBean(LockOperations.class).acquire(LockRequest.of(KEY));
		this.journal.take();
		AtomicInteger busy = new AtomicInteger();
		this.journal.afterBusy(() -> {
			if (busy.incrementAndGet() == 2) {
				held.close();
			}
		});
		assertThat(this.work.repeated()).isEqualTo("done");
		assertThat(this.journal.takeAtEnd()).containsExactly("busy", "busy", "unlock", "lock", "body", "unlock");
	}

	@Test
	void storeThatDoesNotAnswerIsAskedAgain() {
		context.getBean(Failures.class).store.set(2);
		assertThat(this.work.repeated()).isEqualTo("done");
		assertThat(this.journal.takeAtEnd()).containsExactly("failed", "failed", "lock", "body", "unlock");
	}

	@Test
	void excludedProviderErrorIsNotRepeated() {
		context.getBean(Failures.class).store.set(1);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(this.work::repeatedUnlessTheStoreFails);
		assertThat(this.journal.takeAtEnd()).containsExactly("failed");
	}

	@Test
	void bodyIsNotRunAgainAfterALoss() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.work::losing);
		assertThat(this.journal.takeAtEnd()).filteredOn("body"::equals).hasSize(1);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.work::losing);
		assertThat(this.journal.takeAtEnd()).filteredOn("body"::equals).hasSize(1);
	}

	@Test
	void excludedLossIsThrownAtOnce() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.work::losingAtOnce);
		assertThat(this.journal.takeAtEnd()).filteredOn("body"::equals).hasSize(1);
	}

	@Test
	void bodyOfALossIsRunAgainWhereTheRetryIsOnAnotherBean() {
		Outer outer = context.getBean(Outer.class);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(outer::losing);
		assertThat(this.journal.takeAtEnd()).filteredOn("body"::equals).hasSize(3);
	}

	@Test
	void attemptsInsideTheLockShareIt() {
		context.getBean(Failures.class).body.set(2);
		assertThat(context.getBean(Outer.class).lockedOutside()).isEqualTo("done");
		assertThat(this.journal.takeAtEnd()).containsExactly("lock", "body", "body", "body", "unlock");
	}

	@Test
	void eachAttemptOfAMonoTakesTheLockAnew() {
		context.getBean(Failures.class).body.set(2);
		assertThat(this.work.mono().block()).isEqualTo("done");
		assertThat(this.journal.takeAtEnd()).containsExactly("lock", "body", "unlock", "lock", "body", "unlock", "lock",
				"body", "unlock");
	}

	@Test
	void excludedLossOfAMonoIsNotRepeated() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.work.losingMono().block());
		assertThat(this.journal.takeAtEnd()).filteredOn("body"::equals).hasSize(1);
	}

	@Test
	void springRetryRepeatsInsideTheLock() {
		context.getBean(Failures.class).body.set(2);
		assertThat(this.work.repeatedBySpringRetry()).isEqualTo("done");
		assertThat(this.journal.takeAtEnd()).containsExactly("lock", "body", "body", "body", "unlock");
	}

	@Test
	@Tag("full")
	void springRetryRepeatsOutsideTheLockByItsOrder() {
		try (ConfigurableApplicationContext outside = CompositionJournal.start(RetryOutside.class,
				"distributed-lock.provider=flaky")) {
			CompositionJournal entries = CompositionJournal.of(outside);
			Work there = outside.getBean(Work.class);
			outside.getBean(Failures.class).body.set(1);
			assertThat(there.repeatedBySpringRetry()).isEqualTo("done");
			assertThat(entries.takeAtEnd()).containsExactly("lock", "body", "unlock", "lock", "body", "unlock");
			assertThatExceptionOfType(LockLostException.class).isThrownBy(there::losingUnderSpringRetry);
			assertThat(entries.takeAtEnd()).filteredOn("body"::equals).hasSize(1);
		}
	}

	@Test
	void bodysExceptionAfterALossIsRepeatedAsAnyOther() {
		assertThatIllegalStateException().isThrownBy(this.work::failingAfterLoss)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasAtLeastOneElementOfType(LockLostException.class));
		assertThat(this.journal.takeAtEnd()).filteredOn("body"::equals).hasSize(2);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableResilientMethods
	@Import({ Beans.class, RetryConfiguration.class })
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Beans.class)
	static class RetryOutside {

		/** Imports as {@code @EnableRetry(order = …)} does, which needs AspectJ. */
		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static RetryConfiguration retries() {
			RetryConfiguration retries = new RetryConfiguration();
			retries.setOrder(LockAdvisor.DEFAULT_ORDER - 1);
			return retries;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Beans {

		@Bean
		CompositionJournal journal() {
			return new CompositionJournal();
		}

		@Bean
		Failures failures() {
			return new Failures();
		}

		@Bean
		LockProvider flaky(Failures failures) {
			return failures.provider();
		}

		@Bean
		Work work(CompositionJournal journal, Failures failures, LockTemplate locks) {
			return new Work(journal, failures, locks);
		}

		@Bean
		Inner inner(CompositionJournal journal, Failures failures) {
			return new Inner(journal, failures);
		}

		@Bean
		Outer outer(Work work, Inner inner) {
			return new Outer(work, inner);
		}

	}

	/** How often the next calls fail. */
	static class Failures {

		private final AtomicInteger body = new AtomicInteger();

		private final AtomicInteger store = new AtomicInteger();

		void reset() {
			this.body.set(0);
			this.store.set(0);
		}

		void failBody() {
			if (this.body.getAndUpdate((left) -> Math.max(0, left - 1)) > 0) {
				throw new IllegalStateException("The body failed");
			}
		}

		/** Returns a provider whose attempts fail, before anything is sent. */
		LockProvider provider() {
			LockProvider local = new LocalLockProvider();
			return proxy(LockProvider.class, (method, args) -> {
				Object result = "name".equals(method.getName()) ? "flaky" : method.invoke(local, args);
				return (result instanceof LockContender contender) ? contender(contender) : result;
			});
		}

		private LockContender contender(LockContender local) {
			return proxy(LockContender.class, (method, args) -> {
				if (method.getName().startsWith("attempt")
						&& this.store.getAndUpdate((left) -> Math.max(0, left - 1)) > 0) {
					throw LockProviderException.nothingSent(LockError.STORE_FAILED, "flaky", "it does not answer",
							null);
				}
				return method.invoke(local, args);
			});
		}

		private static <T> T proxy(Class<T> type, Handler handler) {
			return type
				.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, args) -> {
					try {
						return handler.call(method, args);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				}));
		}

	}

	/** Handles the calls of a proxy. */
	private interface Handler {

		@Nullable Object call(Method method, Object[] args) throws ReflectiveOperationException;

	}

	static class Work {

		private final CompositionJournal journal;

		private final Failures failures;

		private final LockTemplate locks;

		Work(CompositionJournal journal, Failures failures, LockTemplate locks) {
			this.journal = journal;
			this.failures = failures;
			this.locks = locks;
		}

		private String run() {
			this.journal.add("body");
			this.failures.failBody();
			return "done";
		}

		private void lose() {
			this.journal.add("body");
			assertThat(this.locks.forceRelease(KEY)).isTrue();
		}

		@Retryable(delay = 0)
		@DistributedLock(name = "retried")
		String repeated() {
			return run();
		}

		@Retryable(delay = 0, excludes = LockProviderException.class)
		@DistributedLock(name = "retried")
		String repeatedUnlessTheStoreFails() {
			return run();
		}

		@Retryable(delay = 0)
		@DistributedLock(name = "retried", waitTime = "1m")
		void losing() {
			lose();
		}

		@Retryable(delay = 3_600_000, excludes = LockLostException.class)
		@DistributedLock(name = "retried")
		void losingAtOnce() {
			lose();
		}

		@DistributedLock(name = "retried", waitTime = "1m")
		void lostOnce() {
			lose();
		}

		@Retryable(delay = 0, maxRetries = 1)
		@DistributedLock(name = "retried", waitTime = "1m")
		void failingAfterLoss() {
			lose();
			throw new IllegalStateException("The body failed");
		}

		@Retryable(delay = 0)
		@DistributedLock(name = "retried")
		Mono<String> mono() {
			return Mono.fromCallable(this::run);
		}

		@Retryable(delay = 0, excludes = LockLostException.class)
		@DistributedLock(name = "retried")
		Mono<String> losingMono() {
			return Mono.fromRunnable(this::lose);
		}

		@org.springframework.retry.annotation.Retryable(backoff = @Backoff(0))
		@DistributedLock(name = "retried")
		String repeatedBySpringRetry() {
			return run();
		}

		@org.springframework.retry.annotation.Retryable(backoff = @Backoff(0))
		@DistributedLock(name = "retried")
		void losingUnderSpringRetry() {
			lose();
		}

	}

	static class Inner {

		private final CompositionJournal journal;

		private final Failures failures;

		Inner(CompositionJournal journal, Failures failures) {
			this.journal = journal;
			this.failures = failures;
		}

		@Retryable(delay = 0)
		String run() {
			this.journal.add("body");
			this.failures.failBody();
			return "done";
		}

	}

	static class Outer {

		private final Work work;

		private final Inner inner;

		Outer(Work work, Inner inner) {
			this.work = work;
			this.inner = inner;
		}

		@Retryable(delay = 0, maxRetries = 2, includes = { LockLostException.class, LockNotAcquiredException.class })
		void losing() {
			this.work.lostOnce();
		}

		@DistributedLock(name = "retried")
		String lockedOutside() {
			return this.inner.run();
		}

	}

}
