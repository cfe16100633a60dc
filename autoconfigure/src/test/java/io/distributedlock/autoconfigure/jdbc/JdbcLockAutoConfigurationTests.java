package io.distributedlock.autoconfigure.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceInitializationAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.jdbc.test.autoconfigure.TestDatabaseAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.init.DatabasePopulator;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.LockUser;
import io.distributedlock.autoconfigure.ProviderUser;
import io.distributedlock.autoconfigure.fencing.LockFencingAutoConfiguration;
import io.distributedlock.jdbc.DistributedLockDataSource;
import io.distributedlock.jdbc.JdbcLockProvider;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.jdbc.rowlock.JdbcRowLockProvider;
import io.distributedlock.provider.AttemptResult.Granted;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.testkit.StoreCalls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

@Tag("full")
class JdbcLockAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withBean(ProviderUser.class)
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
				DataSourceInitializationAutoConfiguration.class, JdbcLockAutoConfiguration.class))
		.withPropertyValues("spring.datasource.generate-unique-name=true", "spring.application.name=shop",
				"distributed-lock.call-timeout=10s");

	private final ApplicationContextRunner locked = this.runner.withBean(LockUser.class)
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class));

	@ParameterizedTest
	@CsvSource({ "jdbc:mariadb://db:3306/app?a=b,jdbc:mariadb://db/app,true",
			"jdbc:aws-wrapper:postgresql://db/app,jdbc:postgresql://db:5432/app,true",
			"jdbc:h2:mem:app;MODE=MySQL,jdbc:h2:mem:app,true", "jdbc:h2:mem:app,jdbc:h2:mem:other,false",
			"jdbc:mysql://db/app,jdbc:mysql://other/app,false", "jdbc:mysql://db/app,jdbc:h2:mem:app,false" })
	void urlsOfOneDatabaseAreRecognized(String url, String other, boolean same) {
		assertThat(JdbcLockAutoConfiguration.isSameDatabase(url, other)).isEqualTo(same);
	}

	@Test
	void embeddedDatabaseGetsTheTableAndKeepsTheLocks() {
		this.runner.run((context) -> {
			acquire(context.getBean(JdbcLockProvider.class));
			JdbcTemplate jdbc = new JdbcTemplate(context.getBean(DataSource.class));
			assertThat(jdbc.queryForObject(
					"SELECT UTF8TOSTRING(lock_key) FROM distributed_lock WHERE owner NOT LIKE 'free%'", String.class))
				.isEqualTo("shop:orders:42");
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "row-lock", "ROW_LOCK", "rowlock" })
	void rowLocksAreChosenByTheStrategy(String strategy) {
		this.locked.withPropertyValues("distributed-lock.jdbc.strategy=" + strategy).run((context) -> {
			assertThat(context).hasNotFailed().doesNotHaveBean(JdbcLockProvider.class);
			assertThat(context.getBeanNamesForType(JdbcRowLockProvider.class))
				.containsExactly("distributedLockJdbcProvider");
			LockOperations locks = context.getBean(LockOperations.class);
			JdbcTemplate jdbc = new JdbcTemplate(context.getBean(DataSource.class));
			try (LockLease lease = locks.acquire(LockRequest.of(LockKey.of("orders", "42")))) {
				assertThat(lease.isHeld()).isTrue();
				assertThat(jdbc.queryForList("SELECT UTF8TOSTRING(lock_key) FROM distributed_lock", String.class))
					.contains("shop:orders:42", "%row:shop:orders:42");
			}
		});
	}

	@Test
	void rowLocksRefuseADataSourceFromWhichNoPoolCanBeDerived() {
		this.runner.withUserConfiguration(PlainDataSource.class)
			.withPropertyValues("distributed-lock.jdbc.strategy=row-lock")
			.run((context) -> {
				assertThat(context).hasFailed();
				assertThat(context.getStartupFailure()).rootCause()
					.isInstanceOf(LockConfigurationException.class)
					.hasMessageContaining("distributed-lock.jdbc.strategy is row-lock");
			});
	}

	@Test
	void rowLocksRefuseAMinHoldAtStart() {
		this.locked.withPropertyValues("distributed-lock.jdbc.strategy=row-lock")
			.withUserConfiguration(KeptJob.class)
			.run((context) -> {
				assertThat(context).hasFailed();
				assertThat(context.getStartupFailure()).isInstanceOf(LockConfigurationException.class)
					.hasMessageContaining("minHold")
					.satisfies((ex) -> assertThat(((LockConfigurationException) ex).error())
						.isEqualTo(LockError.MIN_HOLD_UNSUPPORTED));
			});
	}

	@Test
	void poolOfRowLocksThatIsTooSmallIsRefused() {
		this.runner.withPropertyValues("distributed-lock.jdbc.pool.row-lock-size=1").run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("distributed-lock.jdbc.pool.row-lock-size is 1");
		});
	}

	@Test
	void customizerIsCalledForEachPoolByItsName() {
		List<String> pools = new ArrayList<>();
		this.locked.withPropertyValues("distributed-lock.jdbc.strategy=row-lock")
			.withBean(LockHikariCustomizer.class, () -> (config) -> {
				pools.add(config.getPoolName());
				config.setMaximumPoolSize(config.getPoolName().endsWith("rows") ? 20 : 3);
			})
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(pools).containsExactly("distributed-lock", "distributed-lock-rows");
	}

	@Test
	void customizerThatMakesThePoolOfRowLocksSmallerIsRefused() {
		this.locked.withPropertyValues("distributed-lock.jdbc.strategy=row-lock")
			.withBean(LockHikariCustomizer.class, () -> (config) -> config.setMaximumPoolSize(4))
			.run((context) -> {
				assertThat(context).hasFailed();
				assertThat(context.getStartupFailure()).rootCause()
					.isInstanceOf(LockConfigurationException.class)
					.hasMessageContaining("maximumPoolSize=4")
					.hasMessageContaining("distributed-lock.jdbc.pool.row-lock-size is 16");
			});
	}

	static Stream<Arguments> providersThatContradictTheStrategy() {
		return Stream.of(Arguments.of("own", JdbcLockProvider.class, "distributed-lock.jdbc.strategy=row-lock"),
				Arguments.of("distributedLockJdbcProvider", JdbcLockProvider.class,
						"distributed-lock.jdbc.strategy=row-lock"),
				Arguments.of("own", JdbcRowLockProvider.class, "distributed-lock.jdbc.strategy=lease"),
				// Chosen when the application was processed ahead of time.
				Arguments.of("distributedLockJdbcProvider", JdbcRowLockProvider.class,
						"distributed-lock.call-timeout=10s"));
	}

	@ParameterizedTest
	@MethodSource("providersThatContradictTheStrategy")
	<T> void providerThatContradictsTheStrategyIsRefused(String name, Class<T> type, String property) {
		this.locked.withPropertyValues(property).withBean(name, type, () -> {
			throw new IllegalStateException("The provider must not be created");
		}).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("distributed-lock.jdbc.strategy")
				.hasMessageContaining("'" + name + "'")
				.satisfies((ex) -> assertThat(((LockConfigurationException) ex).error())
					.isEqualTo(LockError.INVALID_PROPERTY));
		});
	}

	private static void acquire(JdbcLockProvider provider) {
		assertThat(StoreCalls.resultOf(provider.newContender(LockKey.of("orders", "42"), () -> {
		}).attempt(OwnerId.random(), Duration.ofSeconds(30), false, Duration.ofSeconds(5))))
			.isInstanceOf(Granted.class);
	}

	@Test
	void tableIsCreatedUnderTheConfiguredName() {
		this.runner.withPropertyValues("distributed-lock.jdbc.table=shop_lock", "distributed-lock.key-prefix=x")
			.run((context) -> {
				acquire(context.getBean(JdbcLockProvider.class));
				JdbcTemplate jdbc = new JdbcTemplate(context.getBean(DataSource.class));
				assertThat(jdbc.queryForObject("SELECT count(*) FROM shop_lock", Long.class)).isEqualTo(2);
			});
	}

	@Test
	void missingTableFailsTheStartAndPrintsTheScript() {
		this.locked.withPropertyValues("distributed-lock.jdbc.initialize-schema=never").run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).rootCause().hasMessageContaining("DISTRIBUTED_LOCK");
			Throwable failure = context.getStartupFailure();
			while (!(failure instanceof LockConfigurationException)) {
				failure = failure.getCause();
			}
			assertThat(((LockConfigurationException) failure).error()).isEqualTo(LockError.TABLE_MISSING);
			assertThat(((LockConfigurationException) failure).action()).contains("CREATE TABLE");
		});
	}

	@Test
	void databaseThatOnlySpeaksAsPostgresIsRefusedBeforeAnyScript() {
		PGSimpleDataSource database = TestDatabases.postgresAs("CockroachDB CCL v24.1.0");
		this.locked
			.withPropertyValues("spring.datasource.url=" + database.getURL(), "spring.datasource.username=postgres",
					"distributed-lock.jdbc.initialize-schema=always", "distributed-lock.fencing.enabled=true",
					"distributed-lock.fencing.initialize-schema=always")
			.withConfiguration(AutoConfigurations.of(LockFencingAutoConfiguration.class))
			.run((context) -> {
				assertThat(context).hasFailed();
				assertThat(context.getStartupFailure()).hasMessageContaining("DL-701")
					.hasMessageContaining("CockroachDB");
			});
		assertThat(new JdbcTemplate(database)
			.queryForList("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", String.class)).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "never", "always" })
	void tableThatLacksColumnsIsRefusedWhoeverCreatesIt(String mode) {
		DataSource database = TestDatabases.h2();
		new JdbcTemplate(database).execute("CREATE TABLE distributed_lock (lock_key VARBINARY(2048) PRIMARY KEY)");
		this.locked.withBean(DataSource.class, () -> database)
			.withPropertyValues("distributed-lock.jdbc.initialize-schema=" + mode)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOfSatisfying(LockConfigurationException.class, (ex) -> {
					assertThat(ex.error()).isEqualTo(LockError.TABLE_MISSING);
					assertThat(ex.action()).contains("CREATE TABLE");
				}));
	}

	@ParameterizedTest
	@ValueSource(strings = { "x (a INT); CREATE TABLE injected", "my-lock", "" })
	void nameThatIsNoTableRunsNoScript(String table) {
		DataSource database = TestDatabases.h2();
		this.locked.withBean(DataSource.class, () -> database)
			.withPropertyValues("distributed-lock.jdbc.initialize-schema=always",
					"distributed-lock.jdbc.table=" + table)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("DL-514")
				.hasMessageContaining("distributed-lock.jdbc.table is '" + table + "'"));
		assertThat(new JdbcTemplate(database)
			.queryForList("SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'PUBLIC'")).isEmpty();
	}

	static Stream<Arguments> databasesThatReserveTheName() {
		return Stream
			.<Supplier<DataSource>>of(TestDatabases::h2, TestDatabases::postgres, TestDatabases::mariaDb,
					TestDatabases::mySql)
			.flatMap((database) -> Stream.of(Arguments.of(database, "always"), Arguments.of(database, "never")));
	}

	@ParameterizedTest
	@MethodSource("databasesThatReserveTheName")
	void reservedWordIsRefusedAsTheName(Supplier<DataSource> database, String mode) {
		this.locked.withBean(DataSource.class, database)
			.withPropertyValues("distributed-lock.jdbc.initialize-schema=" + mode, "distributed-lock.jdbc.table=order")
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOfSatisfying(LockConfigurationException.class, (ex) -> {
					assertThat(ex.error()).isEqualTo(LockError.INVALID_PROPERTY);
					assertThat(ex).hasMessageContaining("distributed-lock.jdbc.table is 'order'");
				}));
	}

	@Test
	void tableOfTheApplicationsScriptsIsCreatedFirst() {
		this.runner
			.withPropertyValues("distributed-lock.jdbc.initialize-schema=never",
					"spring.sql.init.schema-locations=classpath:io/distributedlock/jdbc/schema-h2.sql")
			.run((context) -> acquire(context.getBean(JdbcLockProvider.class)));
	}

	@Test
	void databaseThatIsDownOnlyWarns() {
		this.runner
			.withPropertyValues("spring.datasource.url=jdbc:postgresql://localhost:1/none",
					"spring.datasource.username=none", "distributed-lock.call-timeout=1s")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				JdbcLockProvider provider = context.getBean(JdbcLockProvider.class);
				assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> acquire(provider));
			});
	}

	@Test
	void severalDataSourcesWithoutAPrimaryOneAreRefused() {
		this.runner.withUserConfiguration(TwoDataSources.class).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("@DistributedLockDataSource");
		});
	}

	@Test
	void severalQualifiedDataSourcesAreRefused() {
		this.runner.withUserConfiguration(LocksOwn.class, MoreOfItsOwn.class).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("Qualify one only");
		});
	}

	@Test
	void qualifiedDataSourceIsUsedUnchanged() {
		this.runner.withUserConfiguration(TwoDataSources.class, LocksOwn.class).run((context) -> {
			acquire(context.getBean(JdbcLockProvider.class));
			JdbcTemplate jdbc = new JdbcTemplate(context.getBean("locks", DataSource.class));
			assertThat(jdbc.queryForObject("SELECT count(*) FROM distributed_lock WHERE owner NOT LIKE 'free%'",
					Long.class))
				.isEqualTo(1);
		});
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void qualifiedDataSourceNeedNotBeACandidate(CapturedOutput output) {
		this.locked.withUserConfiguration(OnlyForLocks.class)
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID())
			.run((context) -> {
				acquire(context.getBean(JdbcLockProvider.class));
				assertThat(held(context.getBean("locks", DataSource.class))).isEqualTo(1);
				assertThat(context.getBean(DataSource.class)).isInstanceOf(HikariDataSource.class);
				assertThat(output).doesNotContain("is the only one");
			});
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(JdbcLockAutoConfiguration.class))
			.withUserConfiguration(OnlyForLocks.class)
			.run((context) -> acquire(context.getBean(JdbcLockProvider.class)));
	}

	@Test
	void dataSourceThatIsNoCandidateIsNoStore() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(JdbcLockAutoConfiguration.class))
			.withBean(DataSource.class, TestDatabases::h2,
					(definition) -> ((AbstractBeanDefinition) definition).setDefaultCandidate(false))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(JdbcLockProvider.class));
	}

	private static Long held(DataSource dataSource) {
		return new JdbcTemplate(dataSource)
			.queryForObject("SELECT count(*) FROM distributed_lock WHERE owner NOT LIKE 'free%'", Long.class);
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void applicationThatGetsTheDataSourceOfTheLocksIsWarned(CapturedOutput output) {
		this.runner.withUserConfiguration(LocksOwn.class)
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID())
			.run((context) -> assertThat(output).containsOnlyOnce(
					"The DataSource bean with @DistributedLockDataSource is the only one, so that the application uses it"
							+ " too, and spring.datasource.url has no effect: declare it with"
							+ " @Bean(defaultCandidate = false)"));
	}

	/** As with {@code @AutoConfigureTestDatabase(replace = ANY)}. */
	@ParameterizedTest
	@ValueSource(strings = { "lease", "row-lock" })
	@ExtendWith(OutputCaptureExtension.class)
	void locksOfATestAreInItsDatabaseAlone(String strategy, CapturedOutput output) {
		DataSource real = TestDatabases.withTable(TestDatabases.h2());
		this.locked.withConfiguration(AutoConfigurations.of(TestDatabaseAutoConfiguration.class))
			.withPropertyValues("spring.test.database.replace=ANY", "spring.datasource.generate-unique-name=false",
					"spring.datasource.url=" + TestDatabases.url(real), "spring.datasource.username=sa",
					"distributed-lock.jdbc.strategy=" + strategy)
			.run((context) -> {
				LockOperations locks = context.getBean(LockOperations.class);
				try (LockLease lease = locks.acquire(LockRequest.of(LockKey.of("orders")))) {
					assertThat(lease.isHeld()).isTrue();
					assertThat(held(real)).isZero();
					assertThat(held(context.getBean(DataSource.class))).isEqualTo(1);
				}
			});
		assertThat(output).doesNotContain("share the application's connection pool");
	}

	@Test
	void dataSourceThatRoutesWithoutADefaultIsRefused() {
		AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
			@Override
			protected Object determineCurrentLookupKey() {
				return "tenant";
			}
		};
		routing.setTargetDataSources(Map.of("tenant", TestDatabases.h2()));
		this.locked.withBean(DataSource.class, () -> routing)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageStartingWith("DL-702")
				.hasMessageContaining("has no default"));
	}

	@Test
	void locksWorkBesideAnExhaustedSerializablePool() {
		this.runner
			.withPropertyValues("spring.datasource.hikari.auto-commit=false",
					"spring.datasource.hikari.maximum-pool-size=1",
					"spring.datasource.hikari.transaction-isolation=TRANSACTION_SERIALIZABLE")
			.run((context) -> {
				HikariDataSource application = context.getBean(HikariDataSource.class);
				try (var held = application.getConnection()) {
					acquire(context.getBean(JdbcLockProvider.class));
				}
			});
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void applicationsPoolIsUsedOnPurpose(CapturedOutput output) {
		this.runner
			.withPropertyValues("distributed-lock.jdbc.pool.type=application",
					"spring.datasource.hikari.pool-name=shop-pool")
			.run((context) -> {
				acquire(context.getBean(JdbcLockProvider.class));
				assertThat(output).contains("distributed-lock.jdbc.pool.type=application")
					.doesNotContain("distributed-lock - Start")
					.doesNotContain("WARN");
				HikariDataSource application = context.getBean(HikariDataSource.class);
				assertThat(application.getHikariPoolMXBean().getTotalConnections()).isPositive();
			});
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void poolThatCannotBeReadIsSharedWithAWarning(CapturedOutput output) {
		this.runner.withUserConfiguration(OneDataSource.class)
			.withPropertyValues("distributed-lock.jdbc.initialize-schema=always")
			.run((context) -> {
				acquire(context.getBean(JdbcLockProvider.class));
				assertThat(output).containsOnlyOnce("Locks share the application's connection pool");
			});
	}

	@Test
	void customizersChangeTheLocksOwnPoolInTheirOrder() {
		List<String> names = new ArrayList<>();
		this.runner.withPropertyValues("distributed-lock.jdbc.pool.size=5")
			.withBean("second", Second.class, () -> (config) -> {
				names.add(config.getPoolName() + " " + config.getMaximumPoolSize());
			})
			.withBean("first", First.class, () -> (config) -> {
				names.add(config.getPoolName() + " " + config.getMaximumPoolSize());
				config.setPoolName("shop-locks");
				config.setMaximumPoolSize(3);
			})
			.run((context) -> {
				acquire(context.getBean(JdbcLockProvider.class));
				assertThat(names).containsExactly("distributed-lock 5", "shop-locks 3");
				assertThat(context.getBean(HikariDataSource.class).getPoolName()).isNotEqualTo("shop-locks");
			});
	}

	@ParameterizedTest
	@MethodSource("refusedChanges")
	void customizerMustNotChangeWhatLocksNeed(LockHikariCustomizer customizer) {
		this.runner.withBean(LockHikariCustomizer.class, () -> customizer).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("DL-514")
				.hasMessageContaining("customizer");
		});
	}

	static Stream<LockHikariCustomizer> refusedChanges() {
		return Stream.of((config) -> config.setAutoCommit(false), (config) -> config.setReadOnly(true),
				(config) -> config.setIsolateInternalQueries(true), (config) -> config.setTransactionIsolation(null));
	}

	@Test
	void poolOfPostgresIsCustomizedFromConnectionDetails() {
		PGSimpleDataSource database = TestDatabases.withTable(TestDatabases.postgres());
		this.runner
			.withPropertyValues("spring.datasource.type=" + SimpleDriverDataSource.class.getName(),
					"spring.datasource.url=" + database.getURL(), "spring.datasource.username=postgres",
					"distributed-lock.jdbc.initialize-schema=never")
			.withBean(LockHikariCustomizer.class,
					() -> (config) -> config.addDataSourceProperty("ApplicationName", "shop-locks"))
			.run((context) -> {
				acquire(context.getBean(JdbcLockProvider.class));
				assertThat(new JdbcTemplate(database).queryForObject(
						"SELECT count(*) FROM pg_stat_activity WHERE application_name = 'shop-locks'", Long.class))
					.isPositive();
			});
	}

	/** The key of the starting thread names another database. */
	@Test
	void tableIsCreatedInTheDefaultOfADataSourceThatRoutes() {
		DataSource tenant = TestDatabases.h2();
		AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
			@Override
			protected Object determineCurrentLookupKey() {
				return "tenant";
			}
		};
		routing.setTargetDataSources(Map.of("tenant", tenant));
		routing.setDefaultTargetDataSource(TestDatabases.h2());
		this.runner.withBean(DataSource.class, () -> routing)
			.withPropertyValues("distributed-lock.jdbc.initialize-schema=always")
			.run((context) -> {
				acquire(context.getBean(JdbcLockProvider.class));
				assertThat(new JdbcTemplate(tenant)
					.queryForList("SELECT 1 FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = 'DISTRIBUTED_LOCK'"))
					.isEmpty();
			});
	}

	@Test
	void passwordOfConnectionDetailsIsReadForEachConnection() {
		String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
		AtomicReference<String> password = new AtomicReference<>("");
		DataSource application = new SimpleDriverDataSource(new org.h2.Driver(), url, "sa", "");
		this.runner.withBean(DataSource.class, () -> application)
			.withBean(JdbcConnectionDetails.class, () -> details(url, password::get))
			.run((context) -> {
				JdbcLockProvider provider = context.getBean(JdbcLockProvider.class);
				acquire(provider);
				try (Connection administrator = application.getConnection()) {
					JdbcTemplate jdbc = new JdbcTemplate(new SingleConnectionDataSource(administrator, true));
					jdbc.execute("ALTER USER sa SET PASSWORD 'second'");
					password.set("second");
					assertThat(jdbc.queryForList("SELECT ABORT_SESSION(SESSION_ID) FROM INFORMATION_SCHEMA.SESSIONS"
							+ " WHERE SESSION_ID <> SESSION_ID()", Boolean.class))
						.contains(true);
				}
				await().atMost(Duration.ofMinutes(1))
					.ignoreExceptionsInstanceOf(LockProviderException.class)
					.untilAsserted(() -> provider.check(Duration.ofSeconds(5)));
			});
	}

	private static JdbcConnectionDetails details(String url, Supplier<String> password) {
		return new JdbcConnectionDetails() {

			@Override
			public String getUsername() {
				return "sa";
			}

			@Override
			public String getPassword() {
				return password.get();
			}

			@Override
			public String getJdbcUrl() {
				return url;
			}

		};
	}

	@Test
	void backsOffForAnotherProviderAndWithoutADatabase() {
		this.runner.withPropertyValues("distributed-lock.provider=local")
			.run((context) -> assertThat(context).doesNotHaveBean(JdbcLockProvider.class));
		this.runner.withClassLoader(new FilteredClassLoader(DatabasePopulator.class))
			.run((context) -> assertThat(context).doesNotHaveBean(JdbcLockProvider.class));
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(JdbcLockAutoConfiguration.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(JdbcLockProvider.class));
	}

	@Order(1)
	interface First extends LockHikariCustomizer {

	}

	@Order(2)
	interface Second extends LockHikariCustomizer {

	}

	@Configuration(proxyBeanMethods = false)
	static class OneDataSource {

		@Bean
		DataSource only() {
			return TestDatabases.h2();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoDataSources {

		@Bean
		DataSource first() {
			return TestDatabases.h2();
		}

		@Bean
		DataSource second() {
			return TestDatabases.h2();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LocksOwn {

		@Bean
		@DistributedLockDataSource
		DataSource locks() {
			return TestDatabases.withTable(TestDatabases.h2());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OnlyForLocks {

		@Bean(defaultCandidate = false)
		@DistributedLockDataSource
		DataSource locks() {
			return TestDatabases.withTable(TestDatabases.h2());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class MoreOfItsOwn {

		@Bean
		@DistributedLockDataSource
		DataSource moreLocks() {
			return TestDatabases.withTable(TestDatabases.h2());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PlainDataSource {

		@Bean
		DataSource dataSource() {
			return TestDatabases.withTable(TestDatabases.h2());
		}

	}

	static class KeptJob {

		@DistributedLock(minHold = "10s")
		public void run() {
		}

	}

}
