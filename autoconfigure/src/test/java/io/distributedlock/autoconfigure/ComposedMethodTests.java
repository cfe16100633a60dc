package io.distributedlock.autoconfigure;

import java.lang.annotation.Annotation;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import jakarta.validation.ConstraintViolationException;
import jakarta.validation.constraints.NotNull;

import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.resilience.InvocationRejectedException;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.validation.annotation.Validated;
import org.springframework.validation.beanvalidation.MethodValidationPostProcessor;

import io.distributedlock.LockContext;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.interceptor.LockAdvisor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests of locked methods that have other annotations too: which of them runs inside the
 * lock, which outside, and what changes it. Each row of the table in the documentation
 * has one.
 */
@Tag("full")
class ComposedMethodTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static ConfigurableApplicationContext context;

	private CompositionJournal journal;

	private Work work;

	@BeforeAll
	static void start() {
		context = CompositionJournal.start(Defaults.class);
	}

	@AfterAll
	static void stop() {
		context.close();
	}

	@BeforeEach
	void reset() {
		this.journal = CompositionJournal.of(context);
		this.work = context.getBean(Work.class);
	}

	private static void withOrders(Consumer<ConfigurableApplicationContext> test) {
		try (ConfigurableApplicationContext changed = CompositionJournal.start(ChangedOrders.class)) {
			CompositionJournal.of(changed);
			test.accept(changed);
		}
	}

	@Test
	void transactionIsInsideTheLock() {
		this.work.transactional();
		assertThat(this.journal.takeAtEnd()).containsExactly("lock", "body", "commit", "unlock");
		assertThat(context.getBean(JdbcTemplate.class).queryForObject("SELECT COUNT(*) FROM work", Integer.class))
			.isPositive();
	}

	@Test
	void cacheIsInsideTheLock() {
		assertThat(this.work.cached(1)).isEqualTo(this.work.cached(1));
		assertThat(this.journal.takeAtEnd()).containsExactly("lock", "body", "unlock", "lock", "unlock");
	}

	@Test
	void cacheIsOutsideTheLockByItsOrder() {
		withOrders((changed) -> {
			Work there = changed.getBean(Work.class);
			assertThat(there.cached(1)).isEqualTo(there.cached(1));
			assertThat(changed.getBean(CompositionJournal.class).takeAtEnd()).containsExactly("lock", "body", "unlock");
		});
	}

	@Test
	void argumentsAreValidatedInsideTheLock() {
		assertThatExceptionOfType(ConstraintViolationException.class)
			.isThrownBy(() -> context.getBean(ValidatedWork.class).work(null));
		assertThat(this.journal.takeAtEnd()).containsExactly("lock", "unlock");
	}

	@Test
	void argumentsAreValidatedOutsideTheLockByAPostProcessor() {
		withOrders((changed) -> {
			assertThatExceptionOfType(ConstraintViolationException.class)
				.isThrownBy(() -> changed.getBean(ValidatedWork.class).work(null));
			assertThat(changed.getBean(CompositionJournal.class).takeAtEnd()).isEmpty();
		});
	}

	@Test
	void methodOfAnAsyncClassTakesTheLockOnItsOwnThread() {
		CompletableFuture<Thread> thread = context.getBean(AsyncWork.class).work();
		assertThat(thread).succeedsWithin(PATIENCE).isNotSameAs(Thread.currentThread());
		assertThat(this.journal.takeAtEnd()).containsExactly("lock", "body", "unlock");
	}

	@Test
	void asyncMethodTakesTheLockOnItsOwnThread() {
		CompletableFuture<Thread> thread = this.work.async();
		assertThat(thread).succeedsWithin(PATIENCE).isNotSameAs(Thread.currentThread());
		assertThat(this.journal.takeAtEnd()).containsExactly("lock", "body", "unlock");
	}

	@Test
	void concurrencyIsLimitedOutsideTheLock() {
		CompletableFuture<Void> rejected = new CompletableFuture<>();
		this.journal.afterBusy(() -> {
			try {
				this.work.limited();
				rejected.complete(null);
			}
			catch (RuntimeException ex) {
				rejected.completeExceptionally(ex);
			}
		});
		LockLease held = context.getBean(LockOperations.class).acquire(LockRequest.of(LockKey.of("composed")));
		try (held) {
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(this.work::limited);
		}
		assertThat(rejected).failsWithin(PATIENCE)
			.withThrowableThat()
			.withCauseInstanceOf(InvocationRejectedException.class);
		assertThat(this.journal.takeAtEnd()).containsExactly("lock", "busy", "unlock");
		this.work.limited();
	}

	@Test
	void adviceOfTheApplicationIsInsideOrOutsideByItsOrder() {
		this.work.advised();
		assertThat(this.journal.takeAtEnd()).containsExactly("before lock", "lock", "after lock", "body", "unlock");
	}

	@Test
	void adviceWithoutAnOrderIsInsideTheLock() {
		this.work.advisedWithoutOrder();
		assertThat(this.journal.takeAtEnd()).containsExactly("lock", "without order", "body", "unlock");
	}

	@Test
	void eventListenerTakesTheLock() {
		context.publishEvent(new Happened());
		assertThat(this.journal.takeAtEnd()).containsExactly("lock", "body", "unlock");
	}

	@Test
	void listenerOfACommitTakesTheLockAfterIt() {
		new TransactionTemplate(context.getBean(PlatformTransactionManager.class)).executeWithoutResult((status) -> {
			this.journal.addTransaction();
			context.publishEvent(new Committed());
			this.journal.add("published");
		});
		assertThat(this.journal.takeAtEnd()).containsExactly("published", "commit", "lock", "body", "unlock");
	}

	@Test
	void listenerBeforeACommitKeepsTheLockUntilItsEnd() {
		new TransactionTemplate(context.getBean(PlatformTransactionManager.class)).executeWithoutResult((status) -> {
			this.journal.addTransaction();
			context.publishEvent(new Committing());
			this.journal.add("published");
		});
		assertThat(this.journal.takeAtEnd()).containsExactly("published", "lock", "body", "commit", "unlock");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableAsync
	@EnableCaching
	@EnableResilientMethods
	@Import(Beans.class)
	static class Defaults {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor outside(ConfigurableListableBeanFactory beans) {
			return advisor(beans, Advised.class, "before lock", LockAdvisor.DEFAULT_ORDER - 1);
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor inside(ConfigurableListableBeanFactory beans) {
			return advisor(beans, Advised.class, "after lock", LockAdvisor.DEFAULT_ORDER + 1);
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor withoutOrder(ConfigurableListableBeanFactory beans) {
			return advisor(beans, AdvisedWithoutOrder.class, "without order", null);
		}

		private static Advisor advisor(ConfigurableListableBeanFactory beans, Class<? extends Annotation> type,
				String entry, @Nullable Integer order) {
			DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(
					AnnotationMatchingPointcut.forMethodAnnotation(type), (MethodInterceptor) (invocation) -> {
						beans.getBean(CompositionJournal.class).add(entry);
						return invocation.proceed();
					});
			if (order != null) {
				advisor.setOrder(order);
			}
			return advisor;
		}

	}

	/** The changes that the documentation names. */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableCaching(order = LockAdvisor.DEFAULT_ORDER - 1)
	@Import(Beans.class)
	static class ChangedOrders {

		@Bean
		static MethodValidationPostProcessor methodValidationPostProcessor() {
			MethodValidationPostProcessor processor = new MethodValidationPostProcessor();
			processor.setProxyTargetClass(true);
			processor.setBeforeExistingAdvisors(true);
			return processor;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Beans {

		@Bean
		CompositionJournal journal() {
			return new CompositionJournal();
		}

		@Bean
		CacheManager cacheManager() {
			return new ConcurrentMapCacheManager();
		}

		@Bean
		Work work(CompositionJournal journal, JdbcTemplate jdbc) {
			jdbc.execute("CREATE TABLE work (id INT)");
			return new Work(journal, jdbc);
		}

		@Bean
		AsyncWork asyncWork(CompositionJournal journal) {
			return new AsyncWork(journal);
		}

		@Bean
		ValidatedWork validatedWork(CompositionJournal journal) {
			return new ValidatedWork(journal);
		}

		@Bean
		Listeners listeners(CompositionJournal journal) {
			return new Listeners(journal);
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	private @interface Advised {

	}

	@Retention(RetentionPolicy.RUNTIME)
	private @interface AdvisedWithoutOrder {

	}

	private record Happened() {
	}

	private record Committing() {
	}

	private record Committed() {
	}

	static class Work {

		private final CompositionJournal journal;

		private final JdbcTemplate jdbc;

		Work(CompositionJournal journal, JdbcTemplate jdbc) {
			this.journal = journal;
			this.jdbc = jdbc;
		}

		@Transactional
		@DistributedLock(name = "composed")
		void transactional() {
			this.journal.add("body");
			this.journal.addTransaction();
			this.jdbc.update("INSERT INTO work VALUES (1)");
		}

		@Cacheable("values")
		@DistributedLock(name = "composed")
		List<Integer> cached(int value) {
			this.journal.add("body");
			return List.of(value);
		}

		@Async
		@DistributedLock(name = "composed")
		CompletableFuture<Thread> async() {
			this.journal.add("body");
			assertThat(LockContext.current().isHeld()).isTrue();
			return CompletableFuture.completedFuture(Thread.currentThread());
		}

		@ConcurrencyLimit(limit = 1, policy = ConcurrencyLimit.ThrottlePolicy.REJECT)
		@DistributedLock(name = "composed")
		void limited() {
			this.journal.add("body");
		}

		@Advised
		@DistributedLock(name = "composed")
		void advised() {
			this.journal.add("body");
		}

		@AdvisedWithoutOrder
		@DistributedLock(name = "composed")
		void advisedWithoutOrder() {
			this.journal.add("body");
		}

	}

	@Async
	static class AsyncWork {

		private final CompositionJournal journal;

		AsyncWork(CompositionJournal journal) {
			this.journal = journal;
		}

		@DistributedLock(name = "composed")
		public CompletableFuture<Thread> work() {
			this.journal.add("body");
			assertThat(LockContext.current().isHeld()).isTrue();
			return CompletableFuture.completedFuture(Thread.currentThread());
		}

	}

	@Validated
	static class ValidatedWork {

		private final CompositionJournal journal;

		ValidatedWork(CompositionJournal journal) {
			this.journal = journal;
		}

		@DistributedLock(name = "composed")
		void work(@NotNull @Nullable String text) {
			this.journal.add("body");
		}

	}

	static class Listeners {

		private final CompositionJournal journal;

		Listeners(CompositionJournal journal) {
			this.journal = journal;
		}

		@EventListener(Happened.class)
		@DistributedLock(name = "composed")
		public void happened() {
			this.journal.add("body");
		}

		@TransactionalEventListener(Committed.class)
		@DistributedLock(name = "composed")
		public void committed() {
			this.journal.add("body");
		}

		@TransactionalEventListener(classes = Committing.class, phase = TransactionPhase.BEFORE_COMMIT)
		@DistributedLock(name = "composed")
		public void committing() {
			this.journal.add("body");
		}

	}

}
