package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.test.util.AopTestUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of locked methods that Spring runs on other threads: the lock is held there,
 * until the work has ended.
 */
class AsyncMethodTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
		.withPropertyValues("distributed-lock.provider=local")
		.withUserConfiguration(AsyncConfiguration.class);

	private void run(ContextConsumer<AssertableApplicationContext> test) {
		this.runner.run((context) -> {
			assertThat(context).hasNotFailed();
			test.accept(context);
		});
	}

	private static boolean isFree(AssertableApplicationContext context) {
		LockLease lease = context.getBean(LockOperations.class)
			.tryAcquire(LockRequest.of(LockKey.of("async")).withWaitTime(Duration.ZERO));
		if (lease != null) {
			lease.close();
		}
		return lease != null;
	}

	@Test
	void lockOfAMethodWithoutAResultIsHeldOnItsThread() {
		run((context) -> {
			Work work = context.getBean(Work.class);
			Work target = AopTestUtils.getTargetObject(work);
			work.run();
			await().atMost(PATIENCE).until(() -> target.started.getCount() == 0);
			assertThat(LockContext.find()).isEmpty();
			assertThat(isFree(context)).isFalse();
			target.end.complete("end");
			await().atMost(PATIENCE).until(() -> isFree(context));
			assertThat(target.thread).isNotSameAs(Thread.currentThread());
		});
	}

	@Test
	void lockOfAFutureIsHeldUntilItIsDone() {
		run((context) -> {
			Work work = context.getBean(Work.class);
			Work target = AopTestUtils.getTargetObject(work);
			CompletableFuture<String> result = work.future();
			await().atMost(PATIENCE).until(() -> target.started.getCount() == 0);
			assertThat(result).isNotDone();
			assertThat(isFree(context)).isFalse();
			target.end.complete("end");
			assertThat(result).succeedsWithin(PATIENCE).isEqualTo("end");
			assertThat(isFree(context)).isTrue();
		});
	}

	@Test
	void plainFutureHasToBeDoneWhenTheMethodReturns() {
		run((context) -> {
			Work work = context.getBean(Work.class);
			Work target = AopTestUtils.getTargetObject(work);
			Future<String> result = work.plain();
			assertThatExceptionOfType(ExecutionException.class)
				.isThrownBy(() -> result.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
				.havingRootCause()
				.isInstanceOfSatisfying(LockConfigurationException.class,
						(ex) -> assertThat(ex.error()).isEqualTo(LockError.UNSUPPORTED_RESULT));
			target.end.complete("end");
			assertThat(work.plain().get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("end");
		});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	static class AsyncConfiguration {

		@Bean
		Work work() {
			return new Work();
		}

	}

	static class Work {

		final CompletableFuture<String> end = new CompletableFuture<>();

		final CountDownLatch started = new CountDownLatch(1);

		volatile @Nullable Thread thread;

		private void start() {
			this.thread = Thread.currentThread();
			assertThat(LockContext.current().isHeld()).isTrue();
			this.started.countDown();
		}

		@Async
		@DistributedLock(name = "async")
		public void run() {
			start();
			this.end.join();
		}

		@Async
		@DistributedLock(name = "async")
		public CompletableFuture<String> future() {
			start();
			return this.end;
		}

		@Async
		@DistributedLock(name = "async")
		public Future<String> plain() {
			start();
			return this.end;
		}

	}

}
