package io.distributedlock.autoconfigure;

import java.util.List;
import java.util.concurrent.Callable;

import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import reactor.core.publisher.Mono;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.retry.annotation.Backoff;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.retry.annotation.Retryable;

import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.interceptor.LockAdvisor;

/**
 * Application with aspects around its locked methods. Its result is what they and the
 * locks did, in order, once for each method.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableRetry
@ImportAutoConfiguration({ AopAutoConfiguration.class, DistributedLockAutoConfiguration.class })
public final class AspectJApplication implements Callable<List<List<String>>> {

	@Override
	public List<List<String>> call() {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(AspectJApplication.class)
			.web(WebApplicationType.NONE)
			.properties("distributed-lock.provider=local")
			.run()) {
			CompositionJournal journal = CompositionJournal.of(context);
			Work work = context.getBean(Work.class);
			work.work();
			List<String> blocking = journal.takeAtEnd();
			work.mono().block();
			List<String> reactive = journal.takeAtEnd();
			work.repeated();
			return List.of(blocking, reactive, journal.takeAtEnd());
		}
	}

	@Bean
	CompositionJournal journal() {
		return new CompositionJournal();
	}

	@Bean
	Work workBean(CompositionJournal journal) {
		return new Work(journal);
	}

	@Bean
	Outside outside(CompositionJournal journal) {
		return new Outside(journal);
	}

	@Bean
	WithoutOrder withoutOrder(CompositionJournal journal) {
		return new WithoutOrder(journal);
	}

	static class Work {

		private final CompositionJournal journal;

		private int attempts;

		Work(CompositionJournal journal) {
			this.journal = journal;
		}

		@DistributedLock(name = "aspects")
		void work() {
			this.journal.add("body");
		}

		@DistributedLock(name = "aspects")
		Mono<String> mono() {
			return Mono.fromRunnable(() -> this.journal.add("body"));
		}

		@Retryable(backoff = @Backoff(0))
		@DistributedLock(name = "aspects")
		void repeated() {
			this.journal.add("body");
			if (++this.attempts == 1) {
				throw new IllegalStateException("The first attempt fails");
			}
		}

	}

	/** Proceeds twice with {@code work()}. */
	@Aspect
	@Order(LockAdvisor.DEFAULT_ORDER - 1)
	static class Outside {

		private final CompositionJournal journal;

		Outside(CompositionJournal journal) {
			this.journal = journal;
		}

		@Around("execution(void *..AspectJApplication.Work.work())")
		Object twice(ProceedingJoinPoint call) throws Throwable {
			this.journal.add("outside");
			call.proceed();
			return call.proceed();
		}

	}

	@Aspect
	static class WithoutOrder {

		private final CompositionJournal journal;

		WithoutOrder(CompositionJournal journal) {
			this.journal = journal;
		}

		@Around("execution(* *..AspectJApplication.Work.*o*()) && !execution(* *..repeated())")
		Object around(ProceedingJoinPoint call) throws Throwable {
			this.journal.add("inside");
			return call.proceed();
		}

	}

}
