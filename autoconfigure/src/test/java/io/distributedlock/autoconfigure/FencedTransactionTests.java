package io.distributedlock.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import javax.sql.DataSource;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockRequest;
import io.distributedlock.StaleHolderException;
import io.distributedlock.fencing.FenceTimeoutException;
import io.distributedlock.support.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_NESTED;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_NOT_SUPPORTED;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_REQUIRED;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_REQUIRES_NEW;

/**
 * Fenced transactions with each transaction manager of a database, whatever they do. A
 * later holder is a fence that is as high as can be.
 */
@ParameterizedClass
@EnumSource
class FencedTransactionTests {

	private static final LockKey FIRST = LockKey.of("first");

	private static final LockKey SECOND = LockKey.of("second");

	private static ConfigurableApplicationContext context;

	private static Manager started;

	@Parameter
	private Manager manager;

	private LockTemplate locks;

	private JdbcTemplate jdbc;

	private HikariDataSource pool;

	@BeforeEach
	void start() {
		if (started != this.manager) {
			stop();
			context = start(this.manager.configuration, "spring.datasource.hikari.maximum-pool-size=4");
			started = this.manager;
		}
		this.locks = context.getBean(LockTemplate.class);
		this.jdbc = new JdbcTemplate(context.getBean(DataSource.class));
		this.pool = (HikariDataSource) context.getBean(DataSource.class);
	}

	@AfterAll
	static void stop() {
		if (context != null) {
			context.close();
		}
		started = null;
	}

	private static ConfigurableApplicationContext start(Class<?> configuration, String... properties) {
		return new SpringApplicationBuilder(Application.class, configuration).web(WebApplicationType.NONE)
			.properties("distributed-lock.provider=local", "distributed-lock.transaction.fence=true",
					"spring.datasource.generate-unique-name=true", "spring.jpa.open-in-view=false",
					"spring.jpa.hibernate.ddl-auto=create")
			.properties(properties)
			.run();
	}

	@AfterEach
	void nothingIsLeft() {
		assertNothingBound();
		assertThat(LockContext.findAll()).isEmpty();
		this.jdbc.update("DELETE FROM account");
		this.jdbc.update("DELETE FROM distributed_lock_fence");
	}

	private void assertNothingBound() {
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
		assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isFalse();
		assertThat(TransactionSynchronizationManager.isActualTransactionActive()).isFalse();
		assertThat(this.pool.getHikariPoolMXBean().getActiveConnections()).isZero();
	}

	private PlatformTransactionManager transactions() {
		return context.getBean(PlatformTransactionManager.class);
	}

	private void in(int propagation, Consumer<TransactionStatus> work) {
		new TransactionTemplate(transactions(), new DefaultTransactionDefinition(propagation))
			.executeWithoutResult(work);
	}

	private void locked(LockKey key, Runnable work) {
		this.locks.execute(LockRequest.of(key), (lease) -> {
			work.run();
			return null;
		});
	}

	private void insert(int id) {
		this.jdbc.update("INSERT INTO account (id) VALUES (?)", id);
	}

	private List<Integer> accounts() {
		return this.jdbc.queryForList("SELECT id FROM account ORDER BY id", Integer.class);
	}

	private static byte[] fence(LockKey key) {
		return ("local:application:" + key.encoded()).getBytes(StandardCharsets.UTF_8);
	}

	private void raise(LockKey key) {
		this.jdbc.update("MERGE INTO distributed_lock_fence KEY (fence_key) VALUES (?, ?, CURRENT_TIMESTAMP)",
				fence(key), Long.MAX_VALUE);
	}

	private List<Long> tokens(LockKey key) {
		return this.jdbc.queryForList("SELECT token FROM distributed_lock_fence WHERE fence_key = ?", Long.class,
				fence(key));
	}

	@Test
	void transactionMovesTheFenceOfEachKeyAndCommits() {
		List<Long> tokens = new ArrayList<>();
		this.locks.execute(LockRequest.ofAll(List.of(SECOND, FIRST)), (lease) -> {
			in(PROPAGATION_REQUIRED, (status) -> insert(1));
			tokens.add(lease.fencingToken(FIRST).value());
			tokens.add(lease.fencingToken(SECOND).value());
			return null;
		});
		assertThat(accounts()).containsExactly(1);
		assertThat(tokens(FIRST)).containsExactly(tokens.get(0));
		assertThat(tokens(SECOND)).containsExactly(tokens.get(1));
	}

	@Test
	void staleHolderIsRefusedBeforeItsWorkBeginsAndLeavesNothingBound() {
		raise(SECOND);
		List<String> ran = new ArrayList<>();
		for (int round = 0; round < 6; round++) {
			locked(FIRST, () -> locked(SECOND, () -> {
				assertThatExceptionOfType(StaleHolderException.class)
					.isThrownBy(() -> in(PROPAGATION_REQUIRED, (status) -> ran.add("body")))
					.satisfies((ex) -> {
						assertThat(ex.key()).isEqualTo(SECOND);
						assertThat(ex.error()).isEqualTo(LockError.STALE_HOLDER);
						assertThat(ex).hasNoSuppressedExceptions();
					});
				assertNothingBound();
			}));
		}
		assertThat(ran).isEmpty();
		assertThat(tokens(FIRST)).as("rolled back").isEmpty();
		in(PROPAGATION_REQUIRED, (status) -> insert(1));
		assertThat(accounts()).containsExactly(1);
	}

	@Test
	void outerTransactionGoesOnAfterAnInnerOneWasRefused() {
		raise(FIRST);
		List<String> heard = new ArrayList<>();
		LockLease lease = this.locks.acquire(LockRequest.of(FIRST));
		in(PROPAGATION_REQUIRED, (status) -> {
			insert(1);
			TransactionSynchronizationManager.registerSynchronization(new Recorder(heard));
			Object resources = List.copyOf(TransactionSynchronizationManager.getResourceMap().values());
			try (LockContext.Scope scope = LockContext.open(lease)) {
				assertThatExceptionOfType(StaleHolderException.class)
					.isThrownBy(() -> in(PROPAGATION_REQUIRES_NEW, (inner) -> insert(2)));
			}
			assertThat(List.copyOf(TransactionSynchronizationManager.getResourceMap().values())).isEqualTo(resources);
			assertThat(TransactionSynchronizationManager.isActualTransactionActive()).isTrue();
			assertThat(TransactionSynchronizationManager.getSynchronizations()).hasSize(1);
			assertThat(this.pool.getHikariPoolMXBean().getActiveConnections()).isEqualTo(1);
			insert(3);
			in(PROPAGATION_REQUIRES_NEW, (inner) -> insert(4));
		});
		lease.close();
		assertThat(accounts()).containsExactly(1, 3, 4);
		assertThat(heard).startsWith("suspend").endsWith("resume", "committed");
		assertThat(heard).filteredOn("suspend"::equals).hasSameSizeAs(heard.stream().filter("resume"::equals).toList());
	}

	@Test
	void workWithoutATransactionGoesOnAfterAnInnerOneWasRefused() {
		raise(FIRST);
		List<String> heard = new ArrayList<>();
		in(PROPAGATION_NOT_SUPPORTED, (status) -> {
			TransactionSynchronizationManager.registerSynchronization(new Recorder(heard));
			locked(FIRST, () -> assertThatExceptionOfType(StaleHolderException.class)
				.isThrownBy(() -> in(PROPAGATION_REQUIRED, (inner) -> insert(2))));
			assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isTrue();
			assertThat(TransactionSynchronizationManager.isActualTransactionActive()).isFalse();
			assertThat(TransactionSynchronizationManager.getSynchronizations()).hasSize(1);
		});
		assertThat(heard).startsWith("suspend").endsWith("resume", "committed");
		assertThat(accounts()).isEmpty();
	}

	@Test
	void lockInARunningTransactionIsFencedBeforeItsWork() {
		in(PROPAGATION_REQUIRED, (status) -> {
			insert(1);
			locked(FIRST,
					() -> assertThat(tokens(FIRST)).containsExactly(LockContext.current().fencingToken().value()));
		});
		assertThat(tokens(FIRST)).hasSize(1);
		raise(FIRST);
		List<String> ran = new ArrayList<>();
		in(PROPAGATION_REQUIRED, (status) -> {
			insert(2);
			for (int attempt = 0; attempt < 2; attempt++) {
				assertThatExceptionOfType(StaleHolderException.class)
					.isThrownBy(() -> locked(FIRST, () -> ran.add("body")));
				assertThat(this.locks.snapshot().held()).as("nothing can join it").isEmpty();
			}
		});
		assertThat(ran).isEmpty();
		assertThat(accounts()).containsExactly(1, 2);
	}

	@Test
	void innerTransactionDoesNotWaitForTheSuspendedOneOfItsThread() {
		locked(FIRST, () -> in(PROPAGATION_REQUIRED, (status) -> {
			insert(1);
			in(PROPAGATION_REQUIRES_NEW, (inner) -> {
				insert(2);
				locked(FIRST, () -> insert(3));
				locked(SECOND, () -> insert(4));
			});
			assertThat(tokens(SECOND)).as("committed by the inner one").hasSize(1);
			status.setRollbackOnly();
		}));
		assertThat(accounts()).containsExactly(2, 3, 4);
		assertThat(tokens(FIRST)).as("rolled back with the outer one").isEmpty();
	}

	@Test
	void rollbackOnlyRollsTheFenceBack() {
		assertThatExceptionOfType(UnexpectedRollbackException.class)
			.isThrownBy(() -> locked(FIRST, () -> in(PROPAGATION_REQUIRED, (status) -> {
				insert(1);
				in(PROPAGATION_REQUIRED, (joined) -> joined.setRollbackOnly());
			})));
		assertThat(accounts()).isEmpty();
		assertThat(tokens(FIRST)).isEmpty();
	}

	@Test
	void fenceThatASavepointHasUndoneIsMovedAgain() {
		if (this.manager == Manager.JPA) {
			return;
		}
		in(PROPAGATION_REQUIRED, (status) -> {
			in(PROPAGATION_NESTED, (nested) -> {
				locked(FIRST, () -> insert(1));
				nested.setRollbackOnly();
			});
			assertThat(tokens(FIRST)).as("undone").isEmpty();
			insert(2);
		});
		assertThat(tokens(FIRST)).as("moved again").hasSize(1);
		assertThat(accounts()).containsExactly(2);
	}

	@Test
	void transactionWhoseUndoneFenceHasPassedIsNotCommitted() {
		if (this.manager == Manager.JPA) {
			return;
		}
		assertThatExceptionOfType(StaleHolderException.class).isThrownBy(() -> in(PROPAGATION_REQUIRED, (status) -> {
			in(PROPAGATION_NESTED, (nested) -> {
				locked(FIRST, () -> insert(1));
				nested.setRollbackOnly();
			});
			insert(2);
			in(PROPAGATION_REQUIRES_NEW, (other) -> raise(FIRST));
		}));
		assertThat(accounts()).isEmpty();
	}

	@Test
	void transactionThatOnlyReadsIsLeftAlone() {
		raise(FIRST);
		DefaultTransactionDefinition reading = new DefaultTransactionDefinition();
		reading.setReadOnly(true);
		List<Integer> read = new ArrayList<>(List.of(-1));
		locked(FIRST, () -> new TransactionTemplate(transactions(), reading).executeWithoutResult((status) -> {
			read.clear();
			read.addAll(accounts());
		}));
		assertThat(read).isEmpty();
	}

	@Test
	void isolationThatCannotBeFencedIsRefused() {
		DefaultTransactionDefinition snapshot = new DefaultTransactionDefinition();
		snapshot.setIsolationLevel(TransactionDefinition.ISOLATION_SERIALIZABLE);
		locked(FIRST, () -> assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(
					() -> new TransactionTemplate(transactions(), snapshot).executeWithoutResult((status) -> insert(1)))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.FENCE_ISOLATION)));
		assertNothingBound();
	}

	@Test
	void fenceOfATransactionThatDoesNotEndIsATimeoutAndNoRefusal() throws Exception {
		raise(SECOND);
		try (Connection frozen = this.pool.getConnection()) {
			frozen.setAutoCommit(false);
			try (var statement = frozen.prepareStatement("UPDATE distributed_lock_fence SET token = 1")) {
				statement.executeUpdate();
			}
			LockLease lease = this.locks.acquire(LockRequest.of(SECOND));
			in(PROPAGATION_REQUIRED, (status) -> {
				insert(1);
				try (LockContext.Scope scope = LockContext.open(lease)) {
					assertThatExceptionOfType(FenceTimeoutException.class)
						.isThrownBy(() -> in(PROPAGATION_REQUIRES_NEW, (inner) -> insert(2)))
						.withMessageStartingWith("DL-802");
				}
			});
			lease.close();
			frozen.rollback();
			frozen.setAutoCommit(true);
		}
		assertThat(accounts()).containsExactly(1);
	}

	@Test
	void lockThatIsKnownToBeLostIsRefusedWithoutAConnection() {
		LockRequest brief = LockRequest.of(FIRST).withLease(Duration.ofMillis(50)).withRenew(false);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.locks.execute(brief, (lease) -> {
			await().until(() -> lease.lossReason() != null);
			in(PROPAGATION_REQUIRED, (status) -> insert(1));
			return null;
		})).satisfies((ex) -> assertThat(ex).isNotInstanceOf(StaleHolderException.class));
		assertThat(accounts()).isEmpty();
		assertThat(tokens(FIRST)).isEmpty();
	}

	@Test
	void entityIsFlushedInTheFencedTransaction() {
		if (this.manager != Manager.JPA) {
			return;
		}
		EntityManager entities = context.getBean(EntityManager.class);
		locked(FIRST, () -> in(PROPAGATION_REQUIRED, (status) -> entities.persist(new Account(1))));
		assertThat(accounts()).containsExactly(1);
		assertThat(tokens(FIRST)).hasSize(1);
		raise(FIRST);
		assertThatExceptionOfType(StaleHolderException.class).isThrownBy(
				() -> locked(FIRST, () -> in(PROPAGATION_REQUIRED, (status) -> entities.persist(new Account(2)))));
		assertThat(accounts()).containsExactly(1);
	}

	enum Manager {

		DATA_SOURCE(DataSourceManager.class), JDBC(JdbcManager.class), JPA(JpaManager.class);

		private final Class<?> configuration;

		Manager(Class<?> configuration) {
			this.configuration = configuration;
		}

	}

	private record Recorder(List<String> heard) implements TransactionSynchronization {

		@Override
		public void suspend() {
			this.heard.add("suspend");
		}

		@Override
		public void resume() {
			this.heard.add("resume");
		}

		@Override
		public void afterCompletion(int status) {
			this.heard.add((status == STATUS_COMMITTED) ? "committed" : "not committed");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EntityScan(basePackageClasses = FencedTransactionTests.class)
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	static class DataSourceManager {

		@Bean
		DataSourceTransactionManager transactionManager(DataSource dataSource) {
			return new DataSourceTransactionManager(dataSource);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class JdbcManager {

		@Bean
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	/** Leaves Boot's own. */
	@Configuration(proxyBeanMethods = false)
	static class JpaManager {

	}

	@Entity(name = "account")
	static class Account {

		@Id
		private int id;

		protected Account() {
		}

		Account(int id) {
			this.id = id;
		}

	}

}
