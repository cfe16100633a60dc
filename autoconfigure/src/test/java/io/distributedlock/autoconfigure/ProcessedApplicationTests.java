package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.aot.AotDetector;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.SpringProperties;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.javapoet.ClassName;
import org.springframework.transaction.annotation.Transactional;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.OnBusy;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.jdbc.JdbcLockAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockMetricsAutoConfiguration;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.interceptor.LockAdvisor;
import io.distributedlock.local.LocalLockProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests of an application that was processed ahead of time, and runs with the classes
 * that this has generated. Each test has a class loader of its own.
 */
@CompileWithForkedClassLoader
@ExtendWith(OutputCaptureExtension.class)
@Tag("full")
class ProcessedApplicationTests {

	private static final String[] TWO_STORES = { "spring.application.name=shop",
			"spring.datasource.generate-unique-name=true", "distributed-lock.provider=jdbc",
			"distributed-lock.call-timeout=10s", "orders.lease=40s" };

	/** Processes a configuration, and passes on the context that runs. */
	private static void run(Class<?> configuration, String[] properties, Consumer<GenericApplicationContext> test) {
		run(configuration, properties, properties, test);
	}

	private static void run(Class<?> configuration, String[] atBuild, String[] atStart,
			Consumer<GenericApplicationContext> test) {
		TestGenerationContext generated = new TestGenerationContext(configuration);
		ClassName initializer;
		try (AnnotationConfigApplicationContext processed = new AnnotationConfigApplicationContext()) {
			prepare(processed, atBuild);
			processed.register(configuration);
			initializer = new ApplicationContextAotGenerator().processAheadOfTime(processed, generated);
		}
		generated.writeGeneratedContent();
		// Of this class loader's Spring, and so for the test alone.
		SpringProperties.setFlag(AotDetector.AOT_ENABLED);
		TestCompiler.forSystem().with(generated).compile((compiled) -> {
			try (GenericApplicationContext context = new GenericApplicationContext()) {
				context.setClassLoader(compiled.getClassLoader());
				applyGenerated(compiled.getInstance(ApplicationContextInitializer.class, initializer.canonicalName()),
						context);
				prepare(context, atStart);
				context.refresh();
				test.accept(context);
			}
		});
	}

	/** Does what the initializers of an application do, also of a processed one. */
	private static void prepare(ConfigurableApplicationContext context, String[] properties) {
		TestPropertyValues.of(properties).applyTo(context);
		new LockedBeanInitializer().initialize(context);
	}

	@SuppressWarnings("unchecked")
	private static void applyGenerated(ApplicationContextInitializer<?> generated, GenericApplicationContext context) {
		((ApplicationContextInitializer<GenericApplicationContext>) generated).initialize(context);
	}

	private static LockRequest request(String name, String... parts) {
		return LockRequest.of(LockKey.of(name, parts)).withWaitTime(Duration.ZERO);
	}

	@Test
	void methodsAreLockedInTheStoresThatTheyName(CapturedOutput output) {
		run(Shop.class, TWO_STORES, (context) -> {
			// The call of a locked method on its own object is reported by the
			// processing.
			assertThat(output).contains(LockError.SELF_INVOCATION.id());
			Stores stores = context.getBean(Stores.class);
			assertThat(stores.primary.snapshot().provider()).isEqualTo("jdbc");
			assertThat(stores.local.snapshot().provider()).isEqualTo("local");
			assertThat(stores.jdbc).isSameAs(stores.primary).isSameAs(context.getBean(LockOperations.class));
			Orders orders = context.getBean(Orders.class);
			Order order = new Order(new Customer("42"));
			assertThat(orders.pay(order)).isEqualTo("orders:acme:42");
			try (LockLease other = stores.primary.acquire(request("orders", "acme", "42"))) {
				assertThat(other.isHeld()).isTrue();
				assertThat(orders.pay(order)).isEqualTo("busy");
				assertThat(orders.pay(new Order(new Customer("")))).isEqualTo("unlocked");
			}
			try (LockLease other = stores.local.acquire(request("stock"))) {
				assertThat(other.isHeld()).isTrue();
				assertThat(orders.count()).isNull();
			}
			assertThat(orders.count()).isEqualTo("stock");
			assertThat(context.getBeansOfType(LockAdvisor.class)).hasSize(1);
		});
	}

	@Test
	void storesThatOnlyThePropertiesOfTheStartNameAreRefused() {
		String[] atStart = { "spring.application.name=shop", "distributed-lock.provider=local" };
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> run(Storeless.class, new String[0], atStart, (context) -> {
			}))
			.satisfies((ex) -> {
				assertThat(ex.error()).isEqualTo(LockError.NO_PROVIDER);
				assertThat(ex.action()).contains("processed ahead of time");
			});
	}

	@Test
	void lockedBeanWithoutLocksFailsTheStart() {
		assertThatException()
			.isThrownBy(() -> run(WithoutLocks.class, new String[] { "orders.lease=40s" }, (context) -> {
			}))
			.havingRootCause()
			.isInstanceOfSatisfying(LockConfigurationException.class,
					(ex) -> assertThat(ex.error()).isEqualTo(LockError.CONTEXT_WITHOUT_LOCKS));
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ PropertyPlaceholderAutoConfiguration.class, DataSourceAutoConfiguration.class,
			DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
			DistributedLockAutoConfiguration.class, JdbcLockAutoConfiguration.class, LockMetricsAutoConfiguration.class,
			LockTransactionAutoConfiguration.class })
	static class Shop {

		@Bean
		Orders orders() {
			return new Orders();
		}

		@Bean
		Stores stores() {
			return new Stores();
		}

		@Bean(defaultCandidate = false)
		LocalLockProvider local() {
			return new LocalLockProvider();
		}

		@Bean
		Tenants tenants() {
			return new Tenants();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ PropertyPlaceholderAutoConfiguration.class, DistributedLockAutoConfiguration.class })
	static class Storeless {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(PropertyPlaceholderAutoConfiguration.class)
	static class WithoutLocks {

		@Bean
		Orders orders() {
			return new Orders();
		}

	}

	static class Stores {

		@Autowired
		LockTemplate primary;

		@Autowired
		@Qualifier("jdbc")
		LockOperations jdbc;

		@Autowired
		@Qualifier("local")
		LockTemplate local;

	}

	record Order(Customer customer) {
	}

	record Customer(String id) {
	}

	static class Tenants {

		public String current() {
			return "acme";
		}

	}

	static class Orders {

		@DistributedLock(name = "orders", key = { "@tenants.current()", "#order.customer.id" },
				condition = "!#order.customer().id().isEmpty()", lease = "${orders.lease}", waitTime = "0",
				fallback = "busy")
		@Transactional
		public String pay(Order order) {
			return LockContext.find().map((lease) -> lease.keys().get(0).encoded()).orElse("unlocked");
		}

		private String busy(Order order) {
			return "busy";
		}

		@DistributedLock(name = "stock", provider = "local", waitTime = "0", onBusy = OnBusy.SKIP)
		public @Nullable String count() {
			return LockContext.current().keys().get(0).name();
		}

		String countAgain() {
			return String.valueOf(count());
		}

	}

}
