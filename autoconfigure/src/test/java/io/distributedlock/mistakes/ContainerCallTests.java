package io.distributedlock.mistakes;

import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Methods that the container calls through the proxy, and so under their locks. */
class ContainerCallTests {

	@BeforeEach
	void reset() {
		Task.UNLOCKED.set(0);
		Task.LOCKED.set(0);
	}

	@ParameterizedTest
	@ValueSource(classes = { Listener.class, Initialized.class, Started.class, Runner.class, Job.class })
	void methodThatTheContainerCallsThroughTheProxyIsLocked(Class<?> type) {
		try (ConfigurableApplicationContext context = start(type)) {
			await().atMost(Duration.ofMinutes(1)).until(() -> Task.LOCKED.get() + Task.UNLOCKED.get() > 0);
			assertThat(Task.UNLOCKED).hasValue(0);
		}
	}

	@Test
	void factoryMethodOfAFactoryBeanIsLocked() {
		try (ConfigurableApplicationContext context = start(Factory.class)) {
			assertThat(context.getBean(StringBuilder.class)).isNotNull();
			assertThat(Task.LOCKED).hasPositiveValue();
			assertThat(Task.UNLOCKED).hasValue(0);
		}
	}

	private static ConfigurableApplicationContext start(Class<?> type) {
		return new SpringApplicationBuilder(Application.class, type).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.logStartupInfo(false)
			.registerShutdownHook(false)
			.properties(Map.of("distributed-lock.provider", "local"))
			.run();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	@ImportAutoConfiguration({ AopAutoConfiguration.class, DistributedLockAutoConfiguration.class })
	static class Application {

	}

	static class Listener {

		@EventListener
		@DistributedLock
		public void on(ContextRefreshedEvent event) {
			Task.body();
		}

	}

	static class Initialized implements SmartInitializingSingleton {

		@Override
		@DistributedLock
		public void afterSingletonsInstantiated() {
			Task.body();
		}

	}

	static class Started implements SmartLifecycle {

		private boolean running;

		@Override
		@DistributedLock
		public void start() {
			Task.body();
			this.running = true;
		}

		@Override
		public void stop() {
			this.running = false;
		}

		@Override
		public boolean isRunning() {
			return this.running;
		}

	}

	static class Runner implements ApplicationRunner {

		@Override
		@DistributedLock
		public void run(ApplicationArguments arguments) {
			Task.body();
		}

	}

	static class Job {

		@Scheduled(fixedDelay = 3_600_000)
		@DistributedLock(waitTime = "0")
		public void run() {
			Task.body();
		}

	}

	static class Factory implements FactoryBean<StringBuilder> {

		@Override
		@DistributedLock
		public StringBuilder getObject() {
			Task.body();
			return new StringBuilder();
		}

		@Override
		public Class<?> getObjectType() {
			return StringBuilder.class;
		}

	}

}
