package io.distributedlock.autoconfigure;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

import io.distributedlock.LockOperations;
import io.distributedlock.web.LockHandlerExceptionResolver;
import io.distributedlock.web.LockWebExceptionHandler;

import static org.assertj.core.api.Assertions.assertThat;

class LockWebAutoConfigurationTests {

	private static final AutoConfigurations WEB = AutoConfigurations.of(LockWebAutoConfiguration.class);

	@Test
	void answersNeedNoOtherBeanOfLocks() {
		new WebApplicationContextRunner().withConfiguration(WEB)
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(LockHandlerExceptionResolver.class)
				.doesNotHaveBean(LockWebExceptionHandler.class)
				.doesNotHaveBean(LockOperations.class));
		new ReactiveWebApplicationContextRunner().withConfiguration(WEB)
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(LockWebExceptionHandler.class)
				.doesNotHaveBean(LockHandlerExceptionResolver.class));
	}

	@Test
	void applicationWithoutWebHasNoAnswers() {
		new ApplicationContextRunner().withConfiguration(WEB)
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(LockHandlerExceptionResolver.class)
				.doesNotHaveBean(LockWebExceptionHandler.class));
	}

	@Test
	void oneKindOfWebNeedsNoClassOfTheOther() {
		new WebApplicationContextRunner().withConfiguration(WEB)
			.withClassLoader(new FilteredClassLoader("org.springframework.web.reactive", "reactor"))
			.run((context) -> assertThat(context).hasNotFailed().hasBean("distributedLockHandlerExceptionResolver"));
		new ReactiveWebApplicationContextRunner().withConfiguration(WEB)
			.withClassLoader(new FilteredClassLoader("org.springframework.web.servlet", "jakarta.servlet"))
			.run((context) -> assertThat(context).hasNotFailed().hasBean("distributedLockWebExceptionHandler"));
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
				.doesNotHaveBean(LockWebAutoConfiguration.MvcConfiguration.class));
	}

	@Test
	void propertyRemovesTheAnswers() {
		new WebApplicationContextRunner().withConfiguration(WEB)
			.withPropertyValues("distributed-lock.web.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(LockHandlerExceptionResolver.class));
	}

}
