package io.distributedlock.interceptor;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.core.env.StandardEnvironment;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.AnnotationLockAttributeSource;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.reactive.ReactiveLockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * Tests of {@link PublisherInvocation} over a store in memory.
 */
class PublisherInvocationTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = new LockTemplate(new LocalLockProvider(), LockSettings.defaults(), this.timer,
			List.of(), List.of());

	private final LockRequest attempt = LockRequest.of(LockKey.of("reactive")).withWaitTime(Duration.ZERO);

	private final Work target = new Work();

	@AfterEach
	void close() {
		this.target.mayReturn.countDown();
		this.locks.close();
		this.timer.close();
	}

	private boolean isFree() {
		LockLease lease = this.locks.tryAcquire(this.attempt);
		if (lease != null) {
			lease.close();
		}
		return lease != null;
	}

	@Test
	void cancellationWhileTheMethodRunsReleasesAfterIt() throws Exception {
		Work work = new LockedProxies(this.locks).ofClass(this.target);
		Disposable subscription = work.slow().subscribe();
		assertThat(this.target.called.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
		subscription.dispose();
		assertThat(isFree()).isFalse();
		this.target.mayReturn.countDown();
		await().atMost(PATIENCE).until(this::isFree);
	}

	/** As advice of AspectJ does, inside the lock. */
	@Test
	void invocationIsExposedToAdviceInsideTheLock() {
		LockedMethodRegistry methods = new LockedMethodRegistry(
				new AnnotationLockAttributeSource(new StandardEnvironment()::resolveRequiredPlaceholders),
				new DefaultListableBeanFactory());
		AtomicInteger advised = new AtomicInteger();
		ProxyFactory factory = new ProxyFactory(this.target);
		factory.setProxyTargetClass(true);
		factory.addAdvisor(ExposeInvocationInterceptor.ADVISOR);
		factory.addAdvisor(new LockAdvisor(new LockInterceptor(methods, (provider) -> this.locks), methods,
				LockAdvisor.DEFAULT_ORDER));
		factory.addAdvice((MethodInterceptor) (invocation) -> {
			assertThat(ExposeInvocationInterceptor.currentInvocation().getMethod()).isEqualTo(invocation.getMethod());
			advised.incrementAndGet();
			return invocation.proceed();
		});
		Mono<String> work = ((Work) factory.getProxy()).quick();
		assertThat(work.block(PATIENCE)).isEqualTo("quick");
		assertThat(work.block(PATIENCE)).isEqualTo("quick");
		assertThat(advised).hasValue(2);
		await().atMost(PATIENCE).until(this::isFree);
	}

	@Test
	void nullInPlaceOfAPublisherIsReportedAndReleasesTheLock() {
		Mono<String> work = new LockedProxies(this.locks).ofClass(this.target).missing();
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> work.block(PATIENCE))
			.withMessage("DL-617: The locked method " + Work.class.getName()
					+ ".missing() returned null in place of a publisher. Return Mono.empty() or Flux.empty()");
		await().atMost(PATIENCE).until(this::isFree);
	}

	@Test
	void errorThatReactorRethrowsReleasesTheLock() {
		NoClassDefFoundError error = new NoClassDefFoundError("missing");
		CompletableFuture<Object> result = new ReactiveLockTemplate(this.locks).execute(this.attempt, (lease) -> {
			throw error;
		}).toFuture();
		assertThat(catchThrowable(() -> result.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))).hasRootCause(error);
		await().atMost(PATIENCE).until(this::isFree);
	}

	static class Work {

		private final CountDownLatch called = new CountDownLatch(1);

		private final CountDownLatch mayReturn = new CountDownLatch(1);

		@DistributedLock(name = "reactive")
		public Mono<String> slow() throws InterruptedException {
			this.called.countDown();
			this.mayReturn.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
			return Mono.just("slow");
		}

		@DistributedLock(name = "reactive")
		public @Nullable Mono<String> missing() {
			return null;
		}

		@DistributedLock(name = "reactive")
		public Mono<String> quick() {
			return Mono.just("quick");
		}

	}

}
