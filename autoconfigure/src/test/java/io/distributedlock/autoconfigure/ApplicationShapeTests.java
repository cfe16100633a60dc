package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.AopContext;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.willReturn;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.spy;

/**
 * Tests of locked beans in applications of unusual shapes: lazy, with exposed proxies,
 * and locked configuration classes.
 */
@Tag("full")
class ApplicationShapeTests {

	private static final String LAZY = "spring.main.lazy-initialization=true";

	@Test
	void lazyApplicationHasLocks() {
		LockOperations locks;
		try (ConfigurableApplicationContext context = CompositionJournal.start(Application.class, LAZY)) {
			assertThat(context.getBeanFactory().containsSingleton("work")).isFalse();
			assertThat(context.getBean(Work.class).isLocked()).isTrue();
			locks = context.getBean(LockOperations.class);
		}
		assertThatExceptionOfType(LockProviderException.class)
			.isThrownBy(() -> locks.tryAcquire(LockRequest.of(LockKey.of("late"))))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.SHUTTING_DOWN));
	}

	@Test
	void lazyApplicationRefusesAMistakeWhenItsBeanIsCreated() {
		try (ConfigurableApplicationContext context = CompositionJournal.start(Mistaken.class, LAZY)) {
			assertThat(catchThrowable(() -> context.getBean(Mistake.class)))
				.hasRootCauseInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("DL-606");
		}
		assertThat(catchThrowable(() -> CompositionJournal.start(Mistaken.class).close()))
			.hasRootCauseInstanceOf(LockConfigurationException.class);
	}

	@Test
	void lazyApplicationAsksItsStoreAtStart() {
		assertThat(catchThrowable(() -> CompositionJournal
			.start(Down.class, LAZY, "distributed-lock.fail-fast=true", "distributed-lock.provider=down")
			.close())).isInstanceOfSatisfying(LockConfigurationException.class,
					(ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_DOWN_AT_START));
	}

	@Test
	void lazyBeanIsLockedWhereItIsInjected() {
		try (ConfigurableApplicationContext context = CompositionJournal.start(LazyBeans.class)) {
			assertThat(context.getBeanFactory().containsSingleton("work")).isFalse();
			assertThat(context.getBean(Client.class).isLocked()).isTrue();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "true", "false" })
	void currentProxyTakesTheLock(String proxyClasses) {
		try (ConfigurableApplicationContext context = CompositionJournal.start(Exposed.class,
				"spring.aop.proxy-target-class=" + proxyClasses)) {
			Exposing work = context.getBean(Exposing.class);
			assertThat(AopUtils.isJdkDynamicProxy(work)).isEqualTo("false".equals(proxyClasses));
			assertThat(work.callProxy()).containsExactly(false, true);
		}
	}

	@Test
	void methodsOfConfigurationClassesAreLocked() {
		try (ConfigurableApplicationContext context = CompositionJournal.start(Application.class)) {
			assertThat(context.getBean(FullConfiguration.class).isLocked()).isTrue();
			assertThat(context.getBean(LiteConfiguration.class).isLocked()).isTrue();
			assertThat(context.getBean("ofFull", Work.class).isLocked()).isTrue();
			assertThat(context.getBean("ofLite", Work.class).isLocked()).isTrue();
			assertThat(context.getBean(FullConfiguration.class).ofFull()).isSameAs(context.getBean("ofFull"));
		}
	}

	@Test
	void lockOfOneShapeIsTheSameForAll() {
		try (ConfigurableApplicationContext context = CompositionJournal.start(Application.class)) {
			LockOperations locks = context.getBean(LockOperations.class);
			try (LockLease lease = locks
				.acquire(LockRequest.of(LockKey.of("shape")).withLease(Duration.ofMinutes(1)))) {
				assertThat(lease.isHeld()).isTrue();
				for (Locked bean : context.getBeansOfType(Locked.class).values()) {
					assertThat(catchThrowable(bean::isLocked)).hasMessageContaining("DL-101");
				}
			}
		}
	}

	interface Locked {

		@DistributedLock(name = "shape")
		boolean isLocked();

	}

	static class Work implements Locked {

		@Override
		public boolean isLocked() {
			return LockContext.find().isPresent();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ FullConfiguration.class, LiteConfiguration.class })
	static class Application {

		@Bean
		@Primary
		Work work() {
			return new Work();
		}

	}

	@Configuration
	static class FullConfiguration implements Locked {

		@Bean
		Work ofFull() {
			return new Work();
		}

		@Override
		public boolean isLocked() {
			return LockContext.find().isPresent();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LiteConfiguration implements Locked {

		@Bean
		Work ofLite() {
			return new Work();
		}

		@Override
		public boolean isLocked() {
			return LockContext.find().isPresent();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Mistaken {

		@Bean
		Mistake mistake() {
			return new Mistake();
		}

	}

	static class Mistake {

		@DistributedLock
		final void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Down {

		@Bean
		Work work() {
			return new Work();
		}

		@Bean
		LockProvider down() {
			LockProvider provider = spy(new LocalLockProvider());
			willReturn("down").given(provider).name();
			willThrow(LockProviderException.nothingSent(LockError.STORE_FAILED, "down", "it does not answer", null))
				.given(provider)
				.check(any());
			return provider;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class LazyBeans {

		@Bean
		@Lazy
		Work work() {
			return new Work();
		}

		@Bean
		Client client(@Lazy Work work) {
			return new Client(work);
		}

	}

	record Client(Work work) {

		boolean isLocked() {
			return this.work.isLocked();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Exposed {

		@Bean
		static BeanDefinitionRegistryPostProcessor exposeProxies() {
			return new BeanDefinitionRegistryPostProcessor() {

				@Override
				public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
					AopConfigUtils.forceAutoProxyCreatorToExposeProxy(registry);
				}

			};
		}

		@Bean
		Exposing exposing() {
			return new ExposingWork();
		}

	}

	interface Exposing {

		List<Boolean> callProxy();

		boolean isLocked();

	}

	static class ExposingWork implements Exposing {

		@Override
		@DistributedLock(name = "outer")
		public List<Boolean> callProxy() {
			return List.of(isLocked(), ((Exposing) AopContext.currentProxy()).isLocked());
		}

		@Override
		@DistributedLock(name = "shape")
		public boolean isLocked() {
			return LockContext.current().keys().contains(LockKey.of("shape"));
		}

	}

}
