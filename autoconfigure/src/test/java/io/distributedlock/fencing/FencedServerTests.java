package io.distributedlock.fencing;

import java.net.InetSocketAddress;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;
import io.distributedlock.StaleHolderException;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.concurrent.CallbackThreads;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.transaction.SpringTransaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Fenced transactions of servers: what only a server refuses, undoes or leaves open. */
@Tag("matrix")
class FencedServerTests {

	private static final Duration FENCE_TIMEOUT = Duration.ofSeconds(1);

	/** What is documented beside the time-out, and as much again for a slow machine. */
	private static final Duration REST = Duration.ofSeconds(20);

	private final LockKey key = LockKey.of(UUID.randomUUID().toString());

	private final List<AutoCloseable> resources = new ArrayList<>();

	private LockTemplate locks;

	private JdbcTransactionManager manager;

	private JdbcTemplate jdbc;

	/** A connection of another process. */
	private JdbcTemplate other;

	private void start(DataSource dataSource, DataSource otherDataSource) {
		start(dataSource, otherDataSource, FenceSettings.DEFAULT_TABLE);
	}

	private void start(DataSource dataSource, DataSource otherDataSource, String table) {
		FenceSettings settings = new FenceSettings(table, "app", FENCE_TIMEOUT, Duration.ofSeconds(30));
		LockTimer timer = keep(new LockTimer());
		FencedTransactions fences = keep(new FencedTransactions(settings, new FenceSweeper(settings, timer)));
		this.manager = new JdbcTransactionManager(dataSource);
		this.manager.addListener(new FencingListener(this.manager, true, () -> fences));
		this.locks = keep(new LockTemplate(new LocalLockProvider(), LockSettings.defaults(), timer,
				keep(new CallbackThreads(timer)), List.of(), List.of(),
				new FencedEnclosingTransaction(new SpringTransaction(), fences)));
		this.jdbc = new JdbcTemplate(dataSource);
		this.other = new JdbcTemplate(otherDataSource);
		this.other.execute("CREATE TABLE account (id INT PRIMARY KEY, balance INT)");
		this.other.execute("INSERT INTO account VALUES (1, 0)");
	}

	private void start(FenceDatabase database) {
		DataSource dataSource = database.create();
		// Spring binds connections to the instance.
		start(dataSource, new DelegatingDataSource(dataSource));
	}

	private <T extends AutoCloseable> T keep(T resource) {
		this.resources.add(0, resource);
		return resource;
	}

	@AfterEach
	void close() throws Exception {
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
		for (AutoCloseable resource : this.resources) {
			resource.close();
		}
	}

	private void in(int propagation, int isolation, Consumer<TransactionStatus> work) {
		DefaultTransactionDefinition definition = new DefaultTransactionDefinition(propagation);
		definition.setIsolationLevel(isolation);
		new TransactionTemplate(this.manager, definition).executeWithoutResult(work);
	}

	private void in(int propagation, Consumer<TransactionStatus> work) {
		in(propagation, TransactionDefinition.ISOLATION_READ_COMMITTED, work);
	}

	private void locked(Runnable work) {
		this.locks.execute(LockRequest.of(this.key), (lease) -> {
			work.run();
			return null;
		});
	}

	private int balance(JdbcTemplate database) {
		return database.queryForObject("SELECT balance FROM account WHERE id = 1", Integer.class);
	}

	private void add(JdbcTemplate database) {
		database.update("UPDATE account SET balance = balance + 1 WHERE id = 1");
	}

	/** Moves the fence as a later holder does. */
	private void pass() {
		this.other.execute((ConnectionCallback<Boolean>) (connection) -> {
			String fence = HeldKey.text("app", "local", this.key);
			return FenceDialect.of(connection, FenceSettings.DEFAULT_TABLE)
				.advance(connection, fence, Long.MAX_VALUE, 20);
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "MYSQL", "MARIADB_WITH_MYSQL_DRIVER", "MYSQL_WITH_MARIADB_DRIVER" })
	void repeatableReadIsRefusedUnlessTheFenceComesFirst(FenceDatabase database) {
		start(database);
		int isolation = TransactionDefinition.ISOLATION_REPEATABLE_READ;
		locked(() -> in(TransactionDefinition.PROPAGATION_REQUIRED, isolation, (status) -> {
			// The snapshot has not begun with the fence.
			add(this.other);
			assertThat(balance(this.jdbc)).isEqualTo(1);
			add(this.jdbc);
		}));
		List<String> ran = new ArrayList<>();
		in(TransactionDefinition.PROPAGATION_REQUIRED, isolation, (status) -> {
			assertThat(balance(this.jdbc)).isEqualTo(2);
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> locked(() -> ran.add("body")))
				.withMessageContaining("at REPEATABLE READ in M")
				.withMessageContaining("before the transaction begins")
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.FENCE_ISOLATION));
			add(this.jdbc);
		});
		assertThat(ran).isEmpty();
		assertThat(balance(this.other)).as("the transaction goes on without the lock").isEqualTo(3);
		in(TransactionDefinition.PROPAGATION_REQUIRED, (status) -> {
			add(this.jdbc);
			locked(() -> ran.add("read committed"));
		});
		assertThat(ran).hasSize(1);
	}

	/** Each tenant has a database, and so a fence, of its own. */
	@ParameterizedTest
	@EnumSource(names = { "H2", "POSTGRESQL", "MARIADB", "MYSQL" })
	void innerTransactionOfAnotherTenantIsFencedInItsOwnDatabase(FenceDatabase database) {
		AtomicReference<String> tenant = new AtomicReference<>("first");
		AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
			@Override
			protected Object determineCurrentLookupKey() {
				return tenant.get();
			}
		};
		DataSource second = database.create();
		routing.setTargetDataSources(Map.of("first", database.create(), "second", second));
		routing.afterPropertiesSet();
		start(routing, new DelegatingDataSource(second));
		locked(() -> in(TransactionDefinition.PROPAGATION_REQUIRED, (outer) -> {
			in(TransactionDefinition.PROPAGATION_REQUIRES_NEW, (inner) -> assertThat(tenant).hasValue("first"));
			tenant.set("second");
			in(TransactionDefinition.PROPAGATION_REQUIRES_NEW, (inner) -> add(this.jdbc));
			pass();
			assertThatExceptionOfType(StaleHolderException.class)
				.isThrownBy(() -> in(TransactionDefinition.PROPAGATION_REQUIRES_NEW, (inner) -> add(this.jdbc)));
		}));
		assertThat(balance(this.other)).isEqualTo(1);
	}

	/** The schema of a session does not matter to a table with a schema of its own. */
	@ParameterizedTest
	@EnumSource(names = { "H2", "POSTGRESQL", "MARIADB", "MYSQL" })
	void innerTransactionOfAnotherSchemaDoesNotWaitForAFenceOfOneSchema(FenceDatabase database) throws Exception {
		DataSource direct = database.create();
		boolean schemas = database == FenceDatabase.H2 || database == FenceDatabase.POSTGRESQL;
		String own;
		try (Connection connection = direct.getConnection()) {
			own = schemas ? connection.getSchema() : connection.getCatalog();
		}
		AtomicReference<String> tenant = new AtomicReference<>(own);
		start(new DelegatingDataSource(direct) {
			@Override
			public Connection getConnection() throws SQLException {
				Connection connection = super.getConnection();
				if (schemas) {
					connection.setSchema(tenant.get());
				}
				else {
					connection.setCatalog(tenant.get());
				}
				return connection;
			}
		}, new DelegatingDataSource(direct), own + "." + FenceSettings.DEFAULT_TABLE);
		String second = schemas ? "SECOND" : own + "_second";
		String quoted = schemas ? "\"SECOND\"" : second;
		this.other.execute("CREATE SCHEMA " + quoted);
		try {
			locked(() -> in(TransactionDefinition.PROPAGATION_REQUIRED, (outer) -> {
				tenant.set(second);
				in(TransactionDefinition.PROPAGATION_REQUIRES_NEW, (inner) -> add(this.other));
			}));
		}
		finally {
			this.other.execute("DROP SCHEMA " + quoted);
		}
		assertThat(balance(this.other)).isEqualTo(1);
	}

	/** The dialect is that of the tenant. */
	@Test
	void tenantsCanHaveDatabasesOfSeveralKinds() {
		AtomicReference<FenceDatabase> tenant = new AtomicReference<>(FenceDatabase.H2);
		AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
			@Override
			protected Object determineCurrentLookupKey() {
				return tenant.get();
			}
		};
		DataSource postgres = FenceDatabase.POSTGRESQL.create();
		routing.setTargetDataSources(
				Map.of(FenceDatabase.H2, FenceDatabase.H2.create(), FenceDatabase.POSTGRESQL, postgres));
		routing.afterPropertiesSet();
		start(routing, new DelegatingDataSource(postgres));
		locked(() -> in(TransactionDefinition.PROPAGATION_REQUIRED, (status) -> {
			// Moves a fence in H2.
		}));
		tenant.set(FenceDatabase.POSTGRESQL);
		locked(() -> in(TransactionDefinition.PROPAGATION_REQUIRED, (status) -> add(this.jdbc)));
		assertThat(balance(this.other)).isEqualTo(1);
	}

	/** The error has freed the row of the fence, although the transaction is open. */
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void innerTransactionIsFencedAfterAnErrorInTheOuterOne(FenceDatabase database) {
		start(database);
		locked(() -> in(TransactionDefinition.PROPAGATION_REQUIRED, (outer) -> {
			outer.setRollbackOnly();
			assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> this.jdbc.execute("SELECT 1 / 0"));
			in(TransactionDefinition.PROPAGATION_REQUIRES_NEW, (inner) -> add(this.jdbc));
			pass();
			assertThatExceptionOfType(StaleHolderException.class)
				.isThrownBy(() -> in(TransactionDefinition.PROPAGATION_REQUIRES_NEW, (inner) -> add(this.jdbc)));
		}));
		assertThat(balance(this.other)).isEqualTo(1);
	}

	/** What a deadlock does in MySQL and MariaDB. */
	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "MYSQL" })
	void innerTransactionIsFencedAfterTheDatabaseHasUndoneTheOuterOne(FenceDatabase database) {
		start(database);
		locked(() -> assertThatExceptionOfType(StaleHolderException.class)
			.isThrownBy(() -> in(TransactionDefinition.PROPAGATION_REQUIRED, (outer) -> {
				this.jdbc.execute("ROLLBACK");
				pass();
				in(TransactionDefinition.PROPAGATION_REQUIRES_NEW, (inner) -> add(this.jdbc));
			})));
		assertThat(balance(this.other)).isZero();
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB", "MYSQL" })
	@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = ThreadMode.SEPARATE_THREAD)
	void databaseThatHangsEndsTheWaitForAFence(FenceDatabase database) throws Exception {
		DataSource direct = database.create();
		String url;
		try (Connection connection = direct.getConnection()) {
			url = connection.getMetaData().getURL();
		}
		URI uri = URI.create(url.replaceFirst("^jdbc:((mariadb|mysql):)?", "").replaceFirst("\\?.*", ""));
		try (TcpProxy proxy = new TcpProxy(new InetSocketAddress(uri.getHost(), uri.getPort()))) {
			String user = (database == FenceDatabase.POSTGRESQL) ? "postgres" : "root";
			start(new DriverManagerDataSource(url.replaceFirst("//[^/]+/", "//localhost:" + proxy.port() + "/"), user,
					""), direct);
			locked(() -> in(TransactionDefinition.PROPAGATION_REQUIRED, (status) -> add(this.jdbc)));
			assertThatException().isThrownBy(() -> in(TransactionDefinition.PROPAGATION_REQUIRED, (status) -> {
				add(this.jdbc);
				proxy.blackHole();
				long start = System.nanoTime();
				assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> locked(() -> add(this.jdbc)));
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(FENCE_TIMEOUT.plus(REST));
			}));
		}
		assertThat(balance(this.other)).isEqualTo(1);
	}

}
