package io.distributedlock.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.datasource.init.ScriptUtils;

import io.distributedlock.jdbc.TestDatabases;

/** The databases that have fences, each with its table. */
enum FenceDatabase {

	H2(TestDatabases::h2), POSTGRESQL(TestDatabases::postgres), MARIADB(TestDatabases::mariaDb),
	MYSQL(TestDatabases::mySql), MARIADB_WITH_MYSQL_DRIVER(TestDatabases::mariaDbWithMySqlDriver),
	MYSQL_WITH_MARIADB_DRIVER(TestDatabases::mySqlWithMariaDbDriver);

	private final Supplier<DataSource> databases;

	FenceDatabase(Supplier<DataSource> databases) {
		this.databases = databases;
	}

	DataSource create() {
		return withTable(this.databases.get());
	}

	static DataSource withTable(DataSource dataSource) {
		try (Connection connection = dataSource.getConnection()) {
			String script = FenceDialect.of(connection, FenceSettings.DEFAULT_TABLE).schema();
			ScriptUtils.executeSqlScript(connection, new ByteArrayResource(script.getBytes()));
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		return dataSource;
	}

}
