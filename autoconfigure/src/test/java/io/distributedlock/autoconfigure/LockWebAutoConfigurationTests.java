package io.distributedlock.autoconfigure;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

import io.distributedlock.LockOperations;
import io.distributedlock.web.LockExceptionHandler;

import static org.assertj.core.api.Assertions.assertThat;

class LockWebAutoConfigurationTests {

	private static final AutoConfigurations WEB = AutoConfigurations.of(LockWebAutoConfiguration.class);

	@Test
	void handlerNeedsNoOtherBeanOfLocks() {
		new WebApplicationContextRunner().withConfiguration(WEB)
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(LockExceptionHandler.class)
				.doesNotHaveBean(LockOperations.class));
		new ReactiveWebApplicationContextRunner().withConfiguration(WEB)
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(LockExceptionHandler.class));
	}

	@Test
	void applicationsOwnHandlerReplacesOurs() {
		new WebApplicationContextRunner().withConfiguration(WEB)
			.withBean("own", LockExceptionHandler.class, () -> new LockExceptionHandler() {
			})
			.run((context) -> assertThat(context).hasSingleBean(LockExceptionHandler.class).hasBean("own"));
	}

	@Test
	void applicationWithoutWebHasNoHandler() {
		new ApplicationContextRunner().withConfiguration(WEB)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("distributedLockExceptionHandler"));
	}

	@Test
	void nothingOfSpringWebIsLoadedWithoutIt() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(DistributedLockAutoConfiguration.class, LockWebAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("org.springframework.web", "org.springframework.http"))
			.withPropertyValues("distributed-lock.provider=local")
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(LockOperations.class)
				.doesNotHaveBean("distributedLockExceptionHandler"));
	}

	@Test
	void propertyRemovesTheHandler() {
		new WebApplicationContextRunner().withConfiguration(WEB)
			.withPropertyValues("distributed-lock.web.problem-details.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(LockExceptionHandler.class));
	}

}
