package io.distributedlock.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import javax.sql.DataSource;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHandle;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.vendor.HibernateJpaDialect;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.SavepointManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.TransactionSystemException;
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
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.fencing.FenceTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
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
			.properties("distributed-lock.provider=local", "distributed-lock.fencing.enabled=true",
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
		raise(this.jdbc, key);
	}

	private static void raise(JdbcTemplate database, LockKey key) {
		database.update("MERGE INTO distributed_lock_fence KEY (fence_key) VALUES (?, ?, CURRENT_TIMESTAMP)",
				fence(key), Long.MAX_VALUE);
	}

	/** On a connection of its own, in no transaction of the thread. */
	private void raiseApart(LockKey key) {
		try (Connection connection = this.pool.getConnection()) {
			raise(new JdbcTemplate(new SingleConnectionDataSource(connection, true)), key);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
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
	void transactionUnderAShareHasNoFence() {
		LockKey read = LockKey.of("read");
		this.locks.execute(LockRequest.of(read).shared(), (lease) -> {
			in(PROPAGATION_REQUIRED, (status) -> insert(1));
			return null;
		});
		assertThat(accounts()).containsExactly(1);
		assertThat(tokens(read)).isEmpty();
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
			Map<Object, Object> resources = Map.copyOf(TransactionSynchronizationManager.getResourceMap());
			try (LockContext.Scope scope = LockContext.open(lease)) {
				assertThatExceptionOfType(StaleHolderException.class)
					.isThrownBy(() -> in(PROPAGATION_REQUIRES_NEW, (inner) -> insert(2)));
			}
			assertThat(TransactionSynchronizationManager.getResourceMap()).isEqualTo(resources);
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
	void nestedTransactionUnderALockIsInTheFencedOne() {
		locked(FIRST, () -> in(PROPAGATION_REQUIRED, (status) -> {
			in(PROPAGATION_NESTED, (nested) -> insert(1));
			in(PROPAGATION_NESTED, (nested) -> {
				insert(2);
				nested.setRollbackOnly();
			});
		}));
		assertThat(accounts()).containsExactly(1);
		assertThat(tokens(FIRST)).hasSize(1);
	}

	@Test
	void transactionAfterTheCommitOfAnotherHasAFenceOfItsOwn() {
		List<Throwable> refused = new ArrayList<>();
		locked(FIRST, () -> in(PROPAGATION_REQUIRED, (status) -> {
			insert(1);
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCommit() {
					in(PROPAGATION_REQUIRES_NEW, (inner) -> insert(2));
					raiseApart(FIRST);
					refused.add(catchThrowable(() -> in(PROPAGATION_REQUIRES_NEW, (inner) -> insert(3))));
				}

			});
		}));
		assertThat(refused).hasOnlyElementsOfType(StaleHolderException.class).hasSize(1);
		assertThat(accounts()).containsExactly(1, 2);
	}

	@Test
	void innerTransactionIsFencedAfterASavepointHasUndoneTheFence() {
		List<Throwable> refused = new ArrayList<>();
		assertThatExceptionOfType(StaleHolderException.class).isThrownBy(() -> in(PROPAGATION_REQUIRED, (status) -> {
			in(PROPAGATION_NESTED, (nested) -> {
				locked(FIRST, () -> insert(1));
				nested.setRollbackOnly();
			});
			raiseApart(FIRST);
			refused.add(catchThrowable(() -> in(PROPAGATION_REQUIRES_NEW, (inner) -> insert(2))));
		}));
		assertThat(refused).hasOnlyElementsOfType(StaleHolderException.class).hasSize(1);
		assertThat(accounts()).isEmpty();
	}

	@Test
	@Tag("full")
	void allFencesAreMovedAgainAfterAFailureThatASavepointHasUndone() throws Exception {
		raise(SECOND);
		try (Connection frozen = this.pool.getConnection()) {
			frozen.setAutoCommit(false);
			try (var statement = frozen.prepareStatement("UPDATE distributed_lock_fence SET token = 1")) {
				statement.executeUpdate();
			}
			locked(FIRST, () -> in(PROPAGATION_REQUIRED, (status) -> {
				// As a deadlock may do, which undoes more than a savepoint.
				this.jdbc.update("DELETE FROM distributed_lock_fence WHERE fence_key = ?", fence(FIRST));
				in(PROPAGATION_NESTED, (nested) -> {
					assertThatExceptionOfType(FenceTimeoutException.class)
						.isThrownBy(() -> locked(SECOND, () -> insert(1)));
					nested.setRollbackOnly();
				});
				insert(2);
			}));
			frozen.rollback();
			frozen.setAutoCommit(true);
		}
		assertThat(tokens(FIRST)).hasSize(1);
		assertThat(accounts()).containsExactly(2);
	}

	@Test
	@Tag("full")
	void transactionThatIsOverTimeIsNotCommittedUnfenced() {
		DefaultTransactionDefinition brief = new DefaultTransactionDefinition();
		brief.setTimeout(1);
		long end = System.nanoTime() + Duration.ofMillis(1100).toNanos();
		assertThatExceptionOfType(StaleHolderException.class)
			.isThrownBy(() -> new TransactionTemplate(transactions(), brief).executeWithoutResult((status) -> {
				in(PROPAGATION_NESTED, (nested) -> {
					locked(FIRST, () -> {
					});
					nested.setRollbackOnly();
				});
				insert(2);
				raiseApart(FIRST);
				await().until(() -> System.nanoTime() > end);
			}));
		assertThat(accounts()).isEmpty();
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
	@Tag("full")
	void fenceThatASavepointHasUndoneIsMovedAgain() {
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
		assertThatExceptionOfType(StaleHolderException.class).isThrownBy(() -> in(PROPAGATION_REQUIRED, (status) -> {
			in(PROPAGATION_NESTED, (nested) -> {
				locked(FIRST, () -> insert(1));
				nested.setRollbackOnly();
			});
			insert(2);
			raiseApart(FIRST);
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
			.withMessageContaining("at SERIALIZABLE in H2")
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.FENCE_ISOLATION)));
		assertNothingBound();
	}

	@Test
	@Tag("full")
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
		LockRequest brief = LockRequest.of(FIRST).withLease(Duration.ofMillis(500)).withoutRenewal();
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

	/** What it has read before the transaction, as with open-in-view. */
	@Test
	void persistenceContextThatIsOlderThanTheTransactionIsNotCovered() {
		if (this.manager != Manager.JPA) {
			return;
		}
		this.jdbc.update("INSERT INTO account (id, balance) VALUES (1, 10)");
		EntityManagerFactory factory = context.getBean(EntityManagerFactory.class);
		EntityManager entities = factory.createEntityManager();
		TransactionSynchronizationManager.bindResource(factory, new EntityManagerHolder(entities));
		try {
			Account account = entities.find(Account.class, 1);
			this.jdbc.update("UPDATE account SET balance = 20");
			locked(FIRST, () -> in(PROPAGATION_REQUIRED, (status) -> {
				assertThat(entities.find(Account.class, 1).balance).as("read before the fence").isEqualTo(10);
				entities.refresh(account);
				assertThat(account.balance).as("read after the fence").isEqualTo(20);
			}));
		}
		finally {
			TransactionSynchronizationManager.unbindResource(factory);
			entities.close();
		}
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

	/** Leaves Boot's own, whose dialect has no savepoints. */
	@Configuration(proxyBeanMethods = false)
	static class JpaManager {

		@Bean
		static BeanPostProcessor savepoints() {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessBeforeInitialization(Object bean, String beanName) {
					if (bean instanceof LocalContainerEntityManagerFactoryBean factory) {
						factory.setJpaDialect(new SavepointDialect());
					}
					if (bean instanceof JpaTransactionManager manager) {
						manager.setNestedTransactionAllowed(true);
					}
					return bean;
				}

			};
		}

	}

	/** A dialect as that of other providers, which offers the connection's savepoints. */
	private static final class SavepointDialect extends HibernateJpaDialect {

		private static final long serialVersionUID = 1L;

		@Override
		public Object beginTransaction(EntityManager entityManager, TransactionDefinition definition)
				throws SQLException {
			Object data = super.beginTransaction(entityManager, definition);
			return new Savepoints(data, getJdbcConnection(entityManager, false));
		}

		@Override
		public void cleanupTransaction(Object transactionData) {
			super.cleanupTransaction(
					(transactionData instanceof Savepoints savepoints) ? savepoints.data() : transactionData);
		}

	}

	private record Savepoints(Object data, ConnectionHandle handle) implements SavepointManager {

		@Override
		public Object createSavepoint() {
			return call((connection) -> connection.setSavepoint());
		}

		@Override
		public void rollbackToSavepoint(Object savepoint) {
			call((connection) -> {
				connection.rollback((Savepoint) savepoint);
				return savepoint;
			});
		}

		@Override
		public void releaseSavepoint(Object savepoint) {
			call((connection) -> {
				connection.releaseSavepoint((Savepoint) savepoint);
				return savepoint;
			});
		}

		private Object call(ConnectionCallback<Object> work) {
			try {
				return work.doInConnection(this.handle.getConnection());
			}
			catch (SQLException ex) {
				throw new TransactionSystemException("No savepoint", ex);
			}
		}

	}

	@Entity(name = "account")
	static class Account {

		@Id
		private int id;

		private Integer balance;

		protected Account() {
		}

		Account(int id) {
			this.id = id;
		}

	}

}
