package io.distributedlock.autoconfigure;

import java.sql.Connection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aot.generate.GeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.util.ClassUtils;

import io.distributedlock.annotation.DistributedLock;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests of what a processed application tells a native image to keep. */
class LockRuntimeHintsTests {

	private static RuntimeHints hints;

	@BeforeAll
	static void process() {
		TestGenerationContext generated = new TestGenerationContext(LockRuntimeHintsTests.class);
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			TestPropertyValues.of("distributed-lock.provider=local").applyTo(context);
			context.register(Application.class);
			new ApplicationContextAotGenerator().processAheadOfTime(context, generated);
		}
		generated.writeGeneratedContent();
		hints = generated.getRuntimeHints();
		assertThat(generated.getGeneratedFiles().getGeneratedFiles(GeneratedFiles.Kind.SOURCE)).isNotEmpty();
	}

	private static boolean invokes(Class<?> type, String method) {
		return RuntimeHintsPredicates.reflection()
			.onMethodInvocation(ClassUtils.getMethod(type, method, (Class<?>[]) null))
			.test(hints);
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis/attempt.lua", "redis/release.lua", "redis/renew.lua", "redis/server.lua",
			"jdbc/schema-h2.sql", "jdbc/schema-postgresql.sql", "jdbc/schema-mysql.sql", "jdbc/schema-mariadb.sql" })
	void scriptsAreKept(String script) {
		assertThat(RuntimeHintsPredicates.resource().forResource("io/distributedlock/" + script)).accepts(hints);
	}

	@Test
	void proxyAroundAConnectionIsKept() {
		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(Connection.class)).accepts(hints);
	}

	@ParameterizedTest
	@ValueSource(strings = { "org.apache.zookeeper.ClientCnxnSocketNIO", "org.apache.zookeeper.ClientCnxnSocketNetty" })
	void socketsOfZooKeeperAreCreatedByName(String type) throws ReflectiveOperationException {
		assertThat(RuntimeHintsPredicates.reflection()
			.onConstructorInvocation(Class.forName(type).getDeclaredConstructors()[0])).accepts(hints);
	}

	@ParameterizedTest
	@ValueSource(strings = { "event.GrantHandle.callbacks", "event.GrantHandle.lossActions", "grant.Hold.keepers",
			"grant.EngineLease.closed", "grant.GrantState.state", "grant.HeldGrant.abandoned",
			"grant.HeldGrant.keepUntilNanos" })
	void fieldsThatAreUpdatedAtomicallyAreKept(String field) throws ReflectiveOperationException {
		int dot = field.lastIndexOf('.');
		Class<?> type = Class.forName("io.distributedlock.engine." + field.substring(0, dot));
		assertThat(Stream.of(type.getDeclaredFields()))
			.anyMatch((declared) -> declared.getName().equals(field.substring(dot + 1))
					&& RuntimeHintsPredicates.reflection().onFieldAccess(declared).test(hints));
	}

	@Test
	void rootOfExpressionsIsReadable() throws ReflectiveOperationException {
		assertThat(invokes(Class.forName("io.distributedlock.interceptor.expression.KeyRoot"), "args")).isTrue();
	}

	@Test
	void membersThatAKeyReachesAreReadable() {
		assertThat(invokes(Order.class, "getCustomer")).isTrue();
		assertThat(invokes(Customer.class, "id")).isTrue();
		assertThat(invokes(UUID.class, "toString")).isTrue();
		assertThat(invokes(Line.class, "getArticle")).isTrue();
		assertThat(invokes(Article.class, "getNumber")).isTrue();
	}

	@Test
	void memberThatNoExpressionNamesIsNotFollowed() {
		assertThat(RuntimeHintsPredicates.reflection().onType(Unused.class)).rejects(hints);
	}

	@Test
	void beansAndTypesOfExpressionsAreReadable() {
		assertThat(invokes(Tenants.class, "current")).isTrue();
		assertThat(invokes(Regions.class, "home")).isTrue();
	}

	@Test
	void componentsOfARecordThatIsAKeyAreReadable() throws ReflectiveOperationException {
		assertThat(RuntimeHintsPredicates.reflection().onFieldAccess(Customer.class.getDeclaredField("id")))
			.accepts(hints);
	}

	@Test
	void fallbackIsCallable() throws ReflectiveOperationException {
		assertThat(RuntimeHintsPredicates.reflection()
			.onMethodInvocation(Orders.class.getDeclaredMethod("busy", Order.class))).accepts(hints);
	}

	@Configuration(proxyBeanMethods = false)
	@Import(DistributedLockAutoConfiguration.class)
	static class Application {

		@Bean
		Orders orders() {
			return new Orders();
		}

		@Bean
		Tenants tenants() {
			return new Tenants();
		}

	}

	static class Orders {

		@DistributedLock(key = { "@tenants.current()", "#order.customer.id", "T(" + REGIONS + ").home()" },
				fallback = "busy")
		public void pay(Order order) {
		}

		private void busy(Order order) {
		}

		@DistributedLock(key = "#order.lines.![article.number]", condition = "#order.customer != null")
		public void ship(Optional<Order> order) {
		}

	}

	private static final String REGIONS = "io.distributedlock.autoconfigure.LockRuntimeHintsTests$Regions";

	public static final class Order {

		public @Nullable Customer getCustomer() {
			return null;
		}

		public List<Line> getLines() {
			return List.of();
		}

		public @Nullable Unused getUnused() {
			return null;
		}

	}

	public record Customer(UUID id) {
	}

	public static final class Line {

		public @Nullable Article getArticle() {
			return null;
		}

	}

	public static final class Article {

		public long getNumber() {
			return 1;
		}

	}

	public static final class Unused {

	}

	public static class Tenants {

		public String current() {
			return "acme";
		}

	}

	public static final class Regions {

		private Regions() {
		}

		public static String home() {
			return "eu";
		}

	}

}
