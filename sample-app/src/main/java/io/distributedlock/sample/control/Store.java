package io.distributedlock.sample.control;

import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Properties;

import javax.sql.DataSource;

import org.apache.zookeeper.Version;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Profile;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.jdbc.support.MetaDataAccessException;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;

/**
 * The store that keeps the locks, in words.
 */
@Component
@Profile("!" + SampleApplication.WORKER)
class Store {

	private static final String REDIS = "redis";

	private static final String ZOOKEEPER = "zookeeper";

	private final String provider;

	private final String name;

	Store(@Value("${distributed-lock.provider:jdbc}") String provider, DataSource database,
			ObjectProvider<RedisConnectionFactory> redis) throws MetaDataAccessException {
		this.provider = provider;
		this.name = switch (provider) {
			case REDIS -> "Redis " + version(redis.getObject());
			case ZOOKEEPER -> "ZooKeeper, client " + Version.getVersion();
			default -> JdbcUtils.extractDatabaseMetaData(database, Store::product);
		};
	}

	private static String product(DatabaseMetaData database) throws SQLException {
		String version = database.getDatabaseProductVersion();
		return database.getDatabaseProductName() + " " + version.split(" ", 2)[0];
	}

	private static String version(RedisConnectionFactory redis) {
		try (RedisConnection connection = redis.getConnection()) {
			Properties info = Objects.requireNonNull(connection.serverCommands().info("server"));
			// In a cluster each name begins with the node.
			return info.stringPropertyNames()
				.stream()
				.filter((property) -> property.endsWith("redis_version"))
				.map(info::getProperty)
				.findFirst()
				.orElse("of an unknown version");
		}
	}

	String name() {
		return this.name;
	}

	/**
	 * Returns whether the lease of a dead process is the same for all locks: in ZooKeeper
	 * it is the time-out of the session.
	 */
	boolean hasFixedLease() {
		return this.provider.equals(ZOOKEEPER);
	}

}
