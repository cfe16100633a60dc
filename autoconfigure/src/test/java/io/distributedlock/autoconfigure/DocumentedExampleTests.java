package io.distributedlock.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.AliasFor;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

import io.distributedlock.FencingToken;
import io.distributedlock.LockContext;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.annotation.ScheduledLock;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The examples of README.md and of the pages in docs, in an application with a database.
 */
@Tag("full")
class DocumentedExampleTests {

	private static final LockKey ORDER = LockKey.of("orders", "42");

	private static ConfigurableApplicationContext context;

	private final Payments payments = context.getBean(Payments.class);

	private final Reports reports = context.getBean(Reports.class);

	private final LockOperations locks = context.getBean(LockOperations.class);

	@BeforeAll
	static void start() {
		context = new SpringApplicationBuilder(Shop.class).web(WebApplicationType.NONE)
			.properties("distributed-lock.provider=jdbc", "distributed-lock.key-prefix=shop",
					"distributed-lock.lease=30s", "distributed-lock.wait-time=50ms",
					"distributed-lock.call-timeout=10s", "spring.datasource.generate-unique-name=true")
			.run();
		JdbcClient jdbc = context.getBean(JdbcClient.class);
		jdbc.sql("CREATE TABLE orders (id BIGINT PRIMARY KEY, paid BOOLEAN DEFAULT FALSE)").update();
		jdbc.sql("ALTER TABLE orders ADD fence BIGINT NOT NULL DEFAULT 0").update();
		jdbc.sql("INSERT INTO orders (id) VALUES (42)").update();
	}

	@AfterAll
	static void stop() {
		context.close();
	}

	@Test
	void annotatedMethodAndCallByHandWriteOneAfterTheOther() {
		this.payments.pay(42);
		assertThat(paid(42)).isTrue();
		this.payments.refund(42);
		assertThat(paid(42)).isFalse();
	}

	@Test
	void lateWriteIsRefusedByTheFence() {
		JdbcClient jdbc = context.getBean(JdbcClient.class);
		jdbc.sql("INSERT INTO orders (id, fence) VALUES (44, :fence)").param("fence", Long.MAX_VALUE).update();
		assertThatIllegalStateException().isThrownBy(() -> this.payments.pay(44)).withMessageContaining("later holder");
		assertThat(paid(44)).isFalse();
	}

	@Test
	void handleOfATryIsClosedWithItsBlock() {
		LockRequest request = LockRequest.of(ORDER).withLease(Duration.ofMinutes(1)).withWaitTime(Duration.ZERO);
		try (LockLease lease = this.locks.tryAcquire(request)) {
			assertThat(lease).isNotNull();
			try (LockLease busy = this.locks.tryAcquire(request)) {
				assertThat(busy).isNull();
			}
			lease.ensureHeld();
		}
		this.payments.pay(42);
	}

	@Test
	void handleOfAFutureIsClosedByAnotherThread() {
		assertThat(this.locks.acquireAsync(LockRequest.of(ORDER)).thenAcceptAsync((lease) -> {
			try (lease) {
				lease.ensureHeld();
			}
		})).succeedsWithin(Duration.ofSeconds(30));
		this.payments.pay(42);
	}

	@Test
	void severalKeysHaveATokenEach() {
		LockKey one = LockKey.of("account", "1");
		LockKey two = LockKey.of("account", "2");
		List<FencingToken> tokens = this.locks.execute(LockRequest.ofAll(List.of(one, two)),
				(lease) -> List.of(lease.fencingToken(one), lease.fencingToken(two)));
		assertThat(tokens).allMatch((token) -> token.value() > 0);
	}

	@Test
	void annotatedMethodAndCallByHandShareOneLock() {
		try (LockLease lease = this.locks.acquire(LockRequest.of(ORDER))) {
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.payments.pay(42));
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.payments.refund(42));
			assertThat(lease.isHeld()).isTrue();
		}
	}

	@Test
	void defaultNameIsThatOfClassAndMethod() {
		LockKey key = LockKey.of("Payments.confirm", "42");
		assertThat(this.payments.confirm(42).keys()).containsExactly(key);
		try (LockLease lease = this.locks.acquire(LockRequest.of(key))) {
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.payments.confirm(42));
			assertThat(lease.isHeld()).isTrue();
		}
	}

	@Test
	void scheduledMethodIsSkippedWhileItRunsElsewhere() {
		try (LockLease elsewhere = this.locks.acquire(LockRequest.of(LockKey.of("nightly-report")))) {
			this.reports.sendNightlyReport();
			assertThat(this.reports.sent()).isZero();
			assertThat(elsewhere.isHeld()).isTrue();
		}
		this.reports.sendNightlyReport();
		assertThat(this.reports.sent()).isOne();
	}

	@Test
	void composedAnnotationLocksTheOrder() {
		assertThat(this.payments.ship(42).keys()).containsExactly(ORDER);
	}

	@Test
	void scheduledMethodThatNamesItsStoreRunsOnce() {
		try (LockLease elsewhere = this.locks.acquire(LockRequest.of(LockKey.of("nightly-clean-up")))) {
			this.reports.deleteOldReports();
			assertThat(this.reports.deleted()).isZero();
			assertThat(elsewhere.isHeld()).isTrue();
		}
		this.reports.deleteOldReports();
		this.reports.deleteOldReports();
		assertThat(this.reports.deleted()).isOne();
	}

	@Test
	void locksInMemoryServeAClassWithoutSpring() {
		JdbcClient jdbc = context.getBean(JdbcClient.class);
		jdbc.sql("INSERT INTO orders (id, paid) VALUES (43, TRUE)").update();
		try (LockTimer timer = new LockTimer();
				LockTemplate template = new LockTemplate(new LocalLockProvider(), LockSettings.defaults(), timer,
						List.of(), List.of())) {
			new Payments(template, jdbc).refund(43);
		}
		assertThat(paid(43)).isFalse();
	}

	private static boolean paid(long orderId) {
		return context.getBean(JdbcClient.class)
			.sql("SELECT paid FROM orders WHERE id = :id")
			.param("id", orderId)
			.query(Boolean.class)
			.single();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Payments.class, Reports.class })
	static class Shop {

	}

	@Service
	static class Payments {

		private final LockOperations locks;

		private final JdbcClient jdbc;

		Payments(LockOperations locks, JdbcClient jdbc) {
			this.locks = locks;
			this.jdbc = jdbc;
		}

		@DistributedLock(name = "orders", key = "#orderId")
		@Transactional
		public void pay(long orderId) {
			write(orderId, true, LockContext.current().fencingToken());
		}

		@DistributedLock(key = "#orderId")
		LockLease confirm(long orderId) {
			return LockContext.current();
		}

		@OrderLock("#orderId")
		LockLease ship(long orderId) {
			return LockContext.current();
		}

		void refund(long orderId) {
			LockKey key = LockKey.of("orders", Long.toString(orderId));
			this.locks.execute(LockRequest.of(key), (lease) -> write(orderId, false, lease.fencingToken()));
		}

		private int write(long orderId, boolean paid, FencingToken token) {
			int updated = this.jdbc
				.sql("UPDATE orders SET paid = :paid, fence = :token WHERE id = :id AND fence <= :token")
				.param("paid", paid)
				.param("token", token.value())
				.param("id", orderId)
				.update();
			if (updated == 0) {
				throw new IllegalStateException("Order " + orderId + " is unknown, or a later holder has written it");
			}
			return updated;
		}

	}

	@Component
	static class Reports {

		private int sent;

		private int deleted;

		int sent() {
			return this.sent;
		}

		int deleted() {
			return this.deleted;
		}

		@Scheduled(cron = "0 0 3 * * *")
		@ScheduledLock(name = "nightly-report", minHold = "30m")
		public void sendNightlyReport() {
			this.sent++;
		}

		@Scheduled(cron = "0 0 3 * * *")
		@ScheduledLock(name = "nightly-clean-up", minHold = "30m", provider = "jdbc")
		public void deleteOldReports() {
			this.deleted++;
		}

	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock(name = "orders", lease = "1m", waitTime = "10s")
	@interface OrderLock {

		@AliasFor(annotation = DistributedLock.class, attribute = "key")
		String[] value();

	}

}
