package io.distributedlock.sample.control;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.UUID;

import org.h2.tools.Server;

import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;

/**
 * In-memory database that all processes share through a server on the loopback interface.
 * The password is new with each start, because other users of the machine can connect to
 * that interface too.
 */
@Component
@ConditionalOnUnset("spring.datasource.url")
@Profile("!" + SampleApplication.WORKER + " & !" + EmbeddedPostgresDatabase.PROFILE + " & !"
		+ EmbeddedMySqlDatabase.PROFILE)
class InMemoryDatabase implements JdbcConnectionDetails, AutoCloseable {

	private static final String LOOPBACK = "127.0.0.1";

	private static final String USERNAME = "sample";

	private final String password = UUID.randomUUID().toString();

	/** An H2 database in memory lasts as long as a connection to it is open. */
	private final Connection keepAlive;

	private final Server server;

	InMemoryDatabase() throws SQLException {
		// H2 takes no bind address as an argument, and listens everywhere without one.
		System.setProperty("h2.bindAddress", LOOPBACK);
		this.keepAlive = DriverManager.getConnection("jdbc:h2:mem:sample", USERNAME, this.password);
		this.server = Server.createTcpServer("-tcpPort", "0", "-tcpDaemon").start();
	}

	@Override
	public String getJdbcUrl() {
		return "jdbc:h2:tcp://" + LOOPBACK + ":" + this.server.getPort() + "/mem:sample";
	}

	@Override
	public String getUsername() {
		return USERNAME;
	}

	@Override
	public String getPassword() {
		return this.password;
	}

	@Override
	public void close() throws SQLException {
		this.server.stop();
		this.keepAlive.close();
	}

}
