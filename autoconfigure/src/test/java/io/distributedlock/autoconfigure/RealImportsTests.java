package io.distributedlock.autoconfigure;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.transaction.annotation.Transactional;

import io.distributedlock.LockContext;
import io.distributedlock.LockOperations;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.observe.LockEndpointAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockHealthAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockMetricsAutoConfiguration;
import io.distributedlock.interceptor.LockAdvisor;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Starts applications as Boot starts them, with every auto-configuration that there is.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("full")
class RealImportsTests {

	@Test
	void lockIsOutsideTheTransactionInEveryOrderOfImports(CapturedOutput output) {
		try (ConfigurableApplicationContext context = start(Accounts.class)) {
			Account account = context.getBean(Account.class);
			account.book();
			assertThat(TransactionProbe.committedInsideLock()).isTrue();
			List<Advisor> advisors = List.of(((Advised) account).getAdvisors());
			assertThat(advisors).hasSizeGreaterThan(1);
			assertThat(advisors.get(0)).isInstanceOf(LockAdvisor.class);
			assertThat(output).doesNotContain("not eligible for getting processed");
		}
	}

	@Test
	void applicationsSchedulerIsUndisturbed() throws InterruptedException {
		try (ConfigurableApplicationContext context = start(Jobs.class, "--spring.task.scheduling.pool.size=3")) {
			assertThat(context.getBeansOfType(TaskScheduler.class)).hasSize(1);
			assertThat(context.getBeansOfType(ScheduledExecutorService.class)).isEmpty();
			assertThat(
					context.getBean(ThreadPoolTaskScheduler.class).getScheduledThreadPoolExecutor().getCorePoolSize())
				.isEqualTo(3);
			assertThat(context.getBean(Jobs.class).locked.await(30, SECONDS)).isTrue();
		}
	}

	@Test
	void applicationMayUseShortBeanNamesItself() {
		try (ConfigurableApplicationContext context = start(ShortNames.class)) {
			assertThat(context.getBean("lockInterceptor")).isEqualTo("lockInterceptor");
			assertThat(context.getBean(LockOperations.class)).isNotNull();
		}
	}

	@Test
	void beansOfTheLibraryHaveTheirOwnNames() {
		try (ConfigurableApplicationContext context = start(Accounts.class)) {
			List<String> names = Stream.of(context.getBeanDefinitionNames())
				.filter((name) -> isDeclaredByTheLibrary(context.getBeanFactory().getBeanDefinition(name)))
				.toList();
			assertThat(names).hasSizeGreaterThan(10).allMatch((name) -> name.matches("distributed[Ll]ock.*"));
		}
	}

	/** Configuration classes and properties have the names that Spring gives them. */
	private static boolean isDeclaredByTheLibrary(BeanDefinition definition) {
		return definition instanceof AnnotatedBeanDefinition annotated && annotated.getFactoryMethodMetadata() != null
				&& annotated.getFactoryMethodMetadata()
					.getDeclaringClassName()
					.startsWith(DistributedLockAutoConfiguration.class.getPackageName() + ".")
				&& !annotated.getFactoryMethodMetadata().getDeclaringClassName().contains("Tests");
	}

	@Test
	void autoConfigurationsAreListed() {
		assertThat(ImportCandidates.load(AutoConfiguration.class, getClass().getClassLoader())).contains(
				DistributedLockAutoConfiguration.class.getName(), LockMetricsAutoConfiguration.class.getName(),
				LockHealthAutoConfiguration.class.getName(), LockEndpointAutoConfiguration.class.getName());
	}

	private static ConfigurableApplicationContext start(Class<?> application, String... arguments) {
		return new SpringApplicationBuilder(application).web(WebApplicationType.NONE)
			.properties("distributed-lock.provider=local", "spring.datasource.generate-unique-name=true")
			.run(arguments);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Accounts {

		@Bean
		Account account(DataSource dataSource) {
			return new Account(new JdbcTemplate(dataSource));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class ShortNames {

		@Bean
		String lockInterceptor() {
			return "lockInterceptor";
		}

		@Bean
		String lockAdvisor() {
			return "lockAdvisor";
		}

		@Bean
		String lockAttributeSource() {
			return "lockAttributeSource";
		}

		@Bean
		String localLockProvider() {
			return "localLockProvider";
		}

	}

	static class Account {

		private final JdbcTemplate jdbc;

		Account(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Transactional
		@DistributedLock
		void book() {
			TransactionProbe.register();
			assertThat(this.jdbc.queryForObject("SELECT 1", Integer.class)).isEqualTo(1);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class Jobs {

		private final CountDownLatch locked = new CountDownLatch(1);

		@Bean
		Job job() {
			return new Job(this.locked);
		}

	}

	static class Job {

		private final CountDownLatch locked;

		Job(CountDownLatch locked) {
			this.locked = locked;
		}

		@Scheduled(fixedDelay = 100)
		@DistributedLock
		void run() {
			if (LockContext.find().isPresent() && Thread.currentThread().getName().startsWith("scheduling-")) {
				this.locked.countDown();
			}
		}

	}

}
