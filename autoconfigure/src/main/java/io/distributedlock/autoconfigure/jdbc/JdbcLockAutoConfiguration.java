package io.distributedlock.autoconfigure.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.jdbc.init.DatabaseInitializationProperties;
import org.springframework.boot.sql.autoconfigure.init.OnDatabaseInitializationCondition;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ResourceLoader;
import org.springframework.jdbc.datasource.AbstractDriverBasedDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.init.DatabasePopulator;
import org.springframework.util.ClassUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.autoconfigure.ConditionalOnLockStore;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.DistributedLockProperties;
import io.distributedlock.autoconfigure.JdbcStrategy;
import io.distributedlock.autoconfigure.KeyPrefix;
import io.distributedlock.autoconfigure.LockStoreLocation;
import io.distributedlock.autoconfigure.LockStorePreparation;
import io.distributedlock.autoconfigure.LockTimerConfiguration;
import io.distributedlock.autoconfigure.OnRowLockCondition;
import io.distributedlock.autoconfigure.QualifiedBeanWarning;
import io.distributedlock.autoconfigure.jdbc.JdbcLockProperties.Pool;
import io.distributedlock.jdbc.DistributedLockDataSource;
import io.distributedlock.jdbc.JdbcLockProvider;
import io.distributedlock.jdbc.JdbcLockSettings;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.rowlock.JdbcRowLockProvider;
import io.distributedlock.provider.LockTimer;

/**
 * Auto-configuration of locks in the application's database.
 *
 * @since 0.1.0
 */
@Lazy
@AutoConfiguration(after = DataSourceAutoConfiguration.class, before = DistributedLockAutoConfiguration.class)
@ConditionalOnClass({ DataSource.class, DatabasePopulator.class, DatabaseInitializationProperties.class,
		OnDatabaseInitializationCondition.class })
@ConditionalOnLockStore(value = "jdbc", bean = DataSource.class, qualifier = DistributedLockDataSource.class)
@EnableConfigurationProperties({ DistributedLockProperties.class, JdbcLockProperties.class })
@Import({ LockTimerConfiguration.class, DatabaseInitializationDependencyConfigurer.class })
public final class JdbcLockAutoConfiguration {

	private static final Log logger = LogFactory.getLog(JdbcLockAutoConfiguration.class);

	/** The name of the bean that is created here. */
	private static final String PROVIDER = "distributedLockJdbcProvider";

	private static final String POOL = "distributed-lock";

	private static final String ROW_LOCK_POOL = "distributed-lock-rows";

	private static final boolean HIKARI = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
			JdbcLockAutoConfiguration.class.getClassLoader());

	@Bean
	@ConditionalOnMissingBean(value = JdbcLockSchemaInitializer.class, name = "distributedLockJdbcSchema")
	@Conditional(OnSchemaInitialization.class)
	@DependsOnDatabaseInitialization
	JdbcLockSchema distributedLockJdbcSchema(@DistributedLockDataSource ObjectProvider<DataSource> own,
			ObjectProvider<DataSource> application, JdbcLockProperties properties, ResourceLoader resources) {
		DataSource chosen = own(own);
		JdbcLockSchemaInitializer initializer = new JdbcLockSchemaInitializer(
				LockDataSource.unwrap((chosen != null) ? chosen : only(application)), properties);
		initializer.setResourceLoader(resources);
		initializer.initializeDatabase();
		return new JdbcLockSchema();
	}

	@Bean
	@ConditionalOnMissingBean({ JdbcLockProvider.class, JdbcRowLockProvider.class })
	@DependsOnDatabaseInitialization
	JdbcLockProvider distributedLockJdbcProvider(@DistributedLockDataSource ObjectProvider<DataSource> own,
			ObjectProvider<DataSource> application, ObjectProvider<JdbcConnectionDetails> details,
			ObjectProvider<LockHikariCustomizer> customizers, JdbcLockProperties properties,
			DistributedLockProperties general, LockTimer timer, Environment environment,
			ObjectProvider<JdbcLockSchema> schema) {
		DataSource chosen = chosen(own, application, environment);
		schema.getIfAvailable();
		LockDataSource connections = (chosen != null) ? LockDataSource.of(chosen, properties.pool().size())
				: connections(only(application), details.getIfUnique(), properties, general.callTimeout(), customizers);
		return new JdbcLockProvider(connections, settings(properties, general, environment), timer);
	}

	private static JdbcLockSettings settings(JdbcLockProperties properties, DistributedLockProperties general,
			Environment environment) {
		return new JdbcLockSettings(KeyPrefix.of(general, environment, "database"), properties.table(),
				properties.retention(), properties.untestedDialects());
	}

	private static @Nullable DataSource chosen(ObjectProvider<DataSource> own, ObjectProvider<DataSource> application,
			Environment environment) {
		DataSource chosen = own(own);
		if (chosen != null) {
			QualifiedBeanWarning.logIfInjected(chosen, application.getIfUnique(), DataSource.class,
					DistributedLockDataSource.class, environment, List.of("spring.datasource.url"));
		}
		return chosen;
	}

	@Bean
	@ConditionalOnBean(name = PROVIDER)
	LockStoreLocation distributedLockJdbcLocation(JdbcLockProperties properties, DistributedLockProperties general,
			Environment environment) {
		return new LockStoreLocation("jdbc", KeyPrefix.text(general, environment),
				((properties.strategy() == JdbcStrategy.ROW_LOCK) ? "row locks in " : "") + "table '"
						+ properties.table() + "'");
	}

	private static @Nullable DataSource own(ObjectProvider<DataSource> own) {
		List<DataSource> qualified = own.stream().toList();
		if (qualified.size() > 1) {
			throw new LockConfigurationException(LockError.SEVERAL_PROVIDERS,
					"There are several DataSource beans with @DistributedLockDataSource,"
							+ " so that the database of the locks is not clear",
					"Qualify one only");
		}
		return qualified.isEmpty() ? null : qualified.get(0);
	}

	private static DataSource only(ObjectProvider<DataSource> application) {
		DataSource dataSource = application.getIfUnique();
		if (dataSource == null) {
			throw new LockConfigurationException(LockError.SEVERAL_PROVIDERS,
					"There are several DataSource beans, none of them primary,"
							+ " so that the database of the locks is not clear",
					"Qualify one with @DistributedLockDataSource, or make one @Primary");
		}
		return dataSource;
	}

	private static LockDataSource connections(DataSource application, @Nullable JdbcConnectionDetails details,
			JdbcLockProperties properties, Duration callTimeout, ObjectProvider<LockHikariCustomizer> customizers) {
		int size = properties.pool().size();
		if (properties.pool().type() == Pool.Type.APPLICATION) {
			logger.info(
					"Locks use the application's connection pool (distributed-lock.jdbc.pool.type=application), at most "
							+ size
							+ " connections at a time. While locked methods hold all its connections, no lock can be "
							+ "acquired, renewed or released");
			return LockDataSource.of(application, size);
		}
		return derived(application, details, POOL, size, callTimeout, customizers);
	}

	private static LockDataSource derived(DataSource application, @Nullable JdbcConnectionDetails details, String name,
			int size, Duration callTimeout, ObjectProvider<LockHikariCustomizer> customizers) {
		return HIKARI ? Pools.derive(application, details, name, size, callTimeout, customizers)
				: LockDataSource.derive(application, size, callTimeout);
	}

	/** Row locks, if the properties ask for them. Read first, so that leases back off. */
	@Lazy
	@Configuration(proxyBeanMethods = false)
	@Conditional(OnRowLockCondition.class)
	static class RowLockConfiguration {

		@Bean
		@ConditionalOnMissingBean({ JdbcLockProvider.class, JdbcRowLockProvider.class })
		@DependsOnDatabaseInitialization
		JdbcRowLockProvider distributedLockJdbcProvider(@DistributedLockDataSource ObjectProvider<DataSource> own,
				ObjectProvider<DataSource> application, ObjectProvider<JdbcConnectionDetails> details,
				ObjectProvider<LockHikariCustomizer> customizers, JdbcLockProperties properties,
				DistributedLockProperties general, LockTimer timer, Environment environment,
				ObjectProvider<JdbcLockSchema> schema) {
			Duration callTimeout = general.callTimeout();
			DataSource chosen = chosen(own, application, environment);
			schema.getIfAvailable();
			LockDataSource connections = (chosen != null) ? LockDataSource.of(chosen, properties.pool().size())
					: connections(only(application), details.getIfUnique(), properties, callTimeout, customizers);
			LockDataSource rows = derived((chosen != null) ? chosen : only(application),
					(chosen != null) ? null : details.getIfUnique(), ROW_LOCK_POOL, properties.pool().rowLockSize(),
					callTimeout, customizers);
			return new JdbcRowLockProvider(connections, rows, callTimeout, settings(properties, general, environment),
					timer);
		}

	}

	/** Use of Hikari's types, in a class of its own because Hikari may be missing. */
	private static final class Pools {

		static LockDataSource derive(DataSource application, @Nullable JdbcConnectionDetails details, String name,
				int size, Duration callTimeout, ObjectProvider<LockHikariCustomizer> customizers) {
			DataSource described = isKindOf(application, HikariDataSource.class) ? application
					: describe(application, details);
			return LockDataSource.derive(described, size, callTimeout, (config) -> {
				config.setPoolName(name);
				customizers.orderedStream().forEach((customizer) -> customizer.customize(config));
				if (name.equals(ROW_LOCK_POOL)) {
					requireSize(config, size);
				}
			});
		}

		/** A smaller pool would hold fewer locks than the property promises. */
		private static void requireSize(HikariConfig config, int size) {
			if (config.getMaximumPoolSize() < size) {
				throw new LockConfigurationException(LockError.INVALID_PROPERTY,
						"A LockHikariCustomizer has set maximumPoolSize=" + config.getMaximumPoolSize()
								+ " for the pool " + ROW_LOCK_POOL
								+ ", but the property distributed-lock.jdbc.pool.row-lock-size is " + size,
						"Set the size by the property, and let the customizer change other pools by their names");
			}
		}

		private static boolean isKindOf(DataSource dataSource, Class<? extends DataSource> type) {
			try {
				return dataSource.isWrapperFor(type);
			}
			catch (SQLException | IllegalStateException ex) {
				// A DataSource that routes has no default.
				return false;
			}
		}

		/** Describes a pool for the database of a DataSource, without starting it. */
		private static DataSource describe(DataSource application, @Nullable JdbcConnectionDetails details) {
			HikariDataSource described = new HikariDataSource();
			if (details != null && isReachedBy(details, application)) {
				described.setJdbcUrl(details.getJdbcUrl());
				described.setCredentialsProvider(() -> Credentials.of(details.getUsername(), details.getPassword()));
				described.setDriverClassName(details.getDriverClassName());
				return described;
			}
			if (isKindOf(application, AbstractDriverBasedDataSource.class)
					&& !isKindOf(application, SingleConnectionDataSource.class)) {
				// Opens a connection each time, as an embedded database does.
				described.setDataSource(LockDataSource.unwrap(application));
				return described;
			}
			return application;
		}

		/**
		 * Whether connection details lead to the database of a DataSource. A test may
		 * have replaced that one, also by a mock, and must not lock in the other. A
		 * database that does not answer yet is taken for that of the details.
		 */
		private static boolean isReachedBy(JdbcConnectionDetails details, DataSource application) {
			try (Connection connection = LockDataSource.unwrap(application).getConnection()) {
				return connection != null && isSameDatabase(details.getJdbcUrl(), connection.getMetaData().getURL());
			}
			catch (SQLException ex) {
				logger.debug("The database of the application did not tell its URL", ex);
				// In place of a pool of an application, as a test has it.
				return !isKindOf(application, AbstractDriverBasedDataSource.class);
			}
		}

	}

	/**
	 * Compares servers and databases: drivers and wrappers of drivers write the protocol,
	 * the usual port and the settings in ways of their own.
	 */
	static boolean isSameDatabase(@Nullable String url, @Nullable String other) {
		return placeOf(url).equals(placeOf(other));
	}

	private static String placeOf(@Nullable String url) {
		String place = String.valueOf(url).split("[?;]", 2)[0];
		int server = place.indexOf("//");
		return (server < 0) ? place : place.substring(server).replaceFirst(":(3306|5432)(?=/|$)", "");
	}

	/**
	 * The lock table, which exists once this bean was created. Spring Boot would run an
	 * initializer that is a bean itself before all other beans of the database, also in
	 * an application without locks.
	 */
	static final class JdbcLockSchema implements LockStorePreparation {

	}

	static class OnSchemaInitialization extends OnDatabaseInitializationCondition {

		OnSchemaInitialization() {
			super("Distributed Lock", "distributed-lock.jdbc.initialize-schema");
		}

	}

}
