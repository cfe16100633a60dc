package io.distributedlock.process;

import java.time.Duration;
import java.util.List;

import javax.sql.DataSource;

import org.h2.jdbcx.JdbcDataSource;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.distributedlock.jdbc.JdbcLockProvider;
import io.distributedlock.jdbc.JdbcLockSettings;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.rowlock.JdbcRowLockProvider;
import io.distributedlock.provider.LockTimer;

/**
 * Where several JVMs reach a database.
 *
 * @param url the JDBC URL
 * @param user the user
 * @param password the password
 */
record Endpoint(String url, String user, String password) {

	/** A fresh database with the lock table and a fenced resource. */
	static Endpoint create(Database database) {
		return switch (database) {
			case H2 -> {
				JdbcDataSource dataSource = (JdbcDataSource) withTables(TestDatabases.h2Server());
				yield new Endpoint(dataSource.getURL(), "sa", "");
			}
			case POSTGRESQL -> {
				PGSimpleDataSource dataSource = withTables(TestDatabases.postgres());
				yield new Endpoint(dataSource.getUrl(), dataSource.getUser(), "postgres");
			}
		};
	}

	/** The same in MariaDB. */
	static Endpoint mariaDb() {
		return new Endpoint(TestDatabases.url(withTables(TestDatabases.mariaDb())), "root", "");
	}

	private static <T extends DataSource> T withTables(T dataSource) {
		TestDatabases.withTable(dataSource);
		TestDatabases.execute(dataSource, "CREATE TABLE resource (id INT PRIMARY KEY, v VARCHAR(20), fence BIGINT)");
		TestDatabases.execute(dataSource, "INSERT INTO resource VALUES (1, 'none', 0)");
		return dataSource;
	}

	static Endpoint parse(List<String> arguments) {
		return new Endpoint(arguments.get(0), arguments.get(1), arguments.get(2).substring(1));
	}

	/** The arguments of a main; an empty one would get lost on some systems. */
	List<String> arguments() {
		return List.of(this.url, this.user, "=" + this.password);
	}

	int port() {
		return Integer.parseInt(this.url.replaceFirst("^.*?localhost:(\\d+)/.*$", "$1"));
	}

	Endpoint through(Wire wire) {
		return new Endpoint(this.url.replace("localhost:" + port() + "/", "localhost:" + wire.port() + "/"), this.user,
				this.password);
	}

	JdbcLockProvider provider(LockTimer timer) {
		return provider(timer, JdbcLockSettings.DEFAULT_RETENTION);
	}

	JdbcLockProvider provider(LockTimer timer, Duration retention) {
		LockDataSource pool = LockDataSource.connect(this.url, this.user, this.password, null,
				LockDataSource.DEFAULT_SIZE, Duration.ofSeconds(2));
		return new JdbcLockProvider(pool,
				new JdbcLockSettings("test", JdbcLockSettings.DEFAULT_TABLE, retention, false), timer);
	}

	JdbcRowLockProvider rowLocks(LockTimer timer) {
		Duration callTimeout = Duration.ofSeconds(2);
		return new JdbcRowLockProvider(
				LockDataSource.connect(this.url, this.user, this.password, null, LockDataSource.DEFAULT_SIZE,
						callTimeout),
				LockDataSource.connect(this.url, this.user, this.password, null, JdbcRowLockProvider.DEFAULT_SIZE,
						callTimeout),
				callTimeout, JdbcLockSettings.defaults("test"), timer);
	}

	JdbcTemplate jdbc() {
		if (this.url.startsWith("jdbc:h2:")) {
			JdbcDataSource dataSource = new JdbcDataSource();
			dataSource.setURL(this.url);
			dataSource.setUser(this.user);
			dataSource.setPassword(this.password);
			return new JdbcTemplate(dataSource);
		}
		if (this.url.startsWith("jdbc:mariadb:")) {
			return new JdbcTemplate(new DriverManagerDataSource(this.url, this.user, this.password));
		}
		PGSimpleDataSource dataSource = new PGSimpleDataSource();
		dataSource.setUrl(this.url);
		dataSource.setUser(this.user);
		dataSource.setPassword(this.password);
		return new JdbcTemplate(dataSource);
	}

	enum Database {

		H2, POSTGRESQL

	}

}
