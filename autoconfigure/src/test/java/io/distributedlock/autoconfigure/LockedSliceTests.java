package io.distributedlock.autoconfigure;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.jpa.test.autoconfigure.DataJpaTest;
import org.springframework.boot.test.autoconfigure.json.JsonTest;
import org.springframework.boot.webflux.test.autoconfigure.WebFluxTest;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.annotation.DirtiesContext.HierarchyMode;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextManager;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.annotation.DistributedLock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests of locked beans in slices and other contexts that lack the auto-configuration:
 * none of them runs unlocked in silence.
 */
@Tag("full")
class LockedSliceTests {

	@ParameterizedTest
	@ValueSource(classes = { WebMvc.class, WebFlux.class, DataJpa.class, Json.class })
	void lockedBeanInASliceFailsItsStart(Class<?> slice) {
		assertUnlocked(catchThrowable(() -> context(slice).getApplicationContext()));
	}

	@ParameterizedTest
	@ValueSource(
			classes = { WebMvcWithLocks.class, WebFluxWithLocks.class, DataJpaWithLocks.class, JsonWithLocks.class })
	void sliceWithTheAutoConfigurationHasLocks(Class<?> slice) {
		TestContext test = context(slice);
		try {
			ApplicationContext context = test.getApplicationContext();
			assertThat(context.getBean(Payments.class).isLocked()).isTrue();
		}
		finally {
			test.markApplicationContextDirty(HierarchyMode.EXHAUSTIVE);
		}
	}

	@Test
	void mockInASliceNeedsNoLocks() {
		TestContext test = context(JsonWithMock.class);
		try {
			assertThat(test.getApplicationContext().getBean(Payments.class).isLocked()).isFalse();
		}
		finally {
			test.markApplicationContextDirty(HierarchyMode.EXHAUSTIVE);
		}
	}

	@Test
	void excludedAutoConfigurationFailsTheStart() {
		assertUnlocked(catchThrowable(() -> new SpringApplicationBuilder(Shop.class).web(WebApplicationType.NONE)
			.properties("spring.autoconfigure.exclude=" + DistributedLockAutoConfiguration.class.getName(),
					"spring.datasource.generate-unique-name=true")
			.run()
			.close()));
	}

	@Test
	void contextBesideTheAutoConfigurationFailsTheStart() {
		SpringApplicationBuilder parent = new SpringApplicationBuilder(Plain.class).web(WebApplicationType.NONE);
		assertUnlocked(catchThrowable(() -> parent.child(WithLocks.class)
			.web(WebApplicationType.NONE)
			.properties("distributed-lock.provider=local", "spring.datasource.generate-unique-name=true")
			.run()
			.close()));
	}

	@Test
	void childOfAContextWithoutLocksFailsTheStart() {
		SpringApplicationBuilder parent = new SpringApplicationBuilder(NothingLocked.class)
			.web(WebApplicationType.NONE);
		assertUnlocked(catchThrowable(() -> parent.child(Plain.class).web(WebApplicationType.NONE).run().close()));
	}

	@Test
	void contextWithoutLockedBeansNeedsNoLocks() {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(NothingLocked.class)
			.web(WebApplicationType.NONE)
			.run()) {
			assertThat(context.isActive()).isTrue();
		}
	}

	private static TestContext context(Class<?> slice) {
		return new TestContextManager(slice).getTestContext();
	}

	private static void assertUnlocked(@Nullable Throwable failure) {
		Throwable cause = failure;
		while (cause != null && !(cause instanceof LockConfigurationException)) {
			cause = cause.getCause();
		}
		assertThat(cause)
			.isInstanceOfSatisfying(LockConfigurationException.class,
					(ex) -> assertThat(ex.error()).isEqualTo(LockError.CONTEXT_WITHOUT_LOCKS))
			.hasMessageContaining("(" + Payments.class.getName() + ") has locked methods")
			.hasMessageContaining("@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)");
	}

	@SpringBootConfiguration
	@EnableAutoConfiguration
	@Import(Payments.class)
	static class Shop {

	}

	/** A context without any auto-configuration. */
	@Configuration(proxyBeanMethods = false)
	@Import(Payments.class)
	static class Plain {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class WithLocks {

	}

	@Configuration(proxyBeanMethods = false)
	static class NothingLocked {

	}

	static class Payments {

		@DistributedLock
		boolean isLocked() {
			return LockContext.find().isPresent();
		}

	}

	@WebMvcTest
	@ContextConfiguration(classes = Shop.class)
	static class WebMvc {

	}

	@WebFluxTest
	@ContextConfiguration(classes = Shop.class)
	static class WebFlux {

	}

	@DataJpaTest
	@ContextConfiguration(classes = Shop.class)
	static class DataJpa {

	}

	@JsonTest
	@ContextConfiguration(classes = Shop.class)
	static class Json {

	}

	@WebMvcTest(properties = "distributed-lock.provider=local")
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	@ContextConfiguration(classes = Shop.class)
	static class WebMvcWithLocks {

	}

	@WebFluxTest(properties = "distributed-lock.provider=local")
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	@ContextConfiguration(classes = Shop.class)
	static class WebFluxWithLocks {

	}

	@DataJpaTest(properties = "distributed-lock.provider=local")
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	@ContextConfiguration(classes = Shop.class)
	static class DataJpaWithLocks {

	}

	@JsonTest(properties = "distributed-lock.provider=local")
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	@ContextConfiguration(classes = Shop.class)
	static class JsonWithLocks {

	}

	@JsonTest
	@ContextConfiguration(classes = Shop.class)
	static class JsonWithMock {

		@MockitoBean
		private Payments payments;

	}

}
