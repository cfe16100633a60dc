package io.distributedlock.process;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.h2.api.Trigger;
import org.h2.tools.Server;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Two processes with a locked Spring Data JPA repository. Each body runs code of the
 * database, which is in this JVM, and so can be held here.
 */
@Tag("full")
public class LockedRepositoryTests {

	private static final AtomicInteger BODIES = new AtomicInteger();

	private static final Semaphore MAY_END = new Semaphore(0);

	private static Server server;

	private static Connection database;

	private static LockProcess first;

	private static LockProcess second;

	@BeforeAll
	static void start() throws SQLException {
		server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists", "-tcpDaemon").start();
		String url = "jdbc:h2:tcp://localhost:" + server.getPort() + "/mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
		database = DriverManager.getConnection(url, "sa", "");
		try (Statement statement = database.createStatement()) {
			statement.execute("CREATE TABLE stock (id BIGINT PRIMARY KEY)");
			statement.execute("CREATE ALIAS enter_body FOR '" + LockedRepositoryTests.class.getName() + ".enterBody'");
			statement.execute("CREATE TRIGGER entered BEFORE INSERT ON stock FOR EACH ROW CALL '"
					+ BodyTrigger.class.getName() + "'");
		}
		first = LockProcess.start(RepositoryMain.class, List.of(url));
		second = LockProcess.start(RepositoryMain.class, List.of(url));
		assertThat(first.answer()).isEqualTo("ready");
		assertThat(second.answer()).isEqualTo("ready");
	}

	@AfterAll
	static void stop() throws SQLException {
		first.close();
		second.close();
		database.close();
		server.stop();
	}

	@ParameterizedTest
	@ValueSource(strings = { "query", "default method", "override", "override by the general type", "type" })
	void repositoryRunsOneBodyAtATime(String method) {
		first.send(method);
		await().atMost(Duration.ofSeconds(30)).until(() -> BODIES.get() == 1);
		assertThat(second.ask(method)).isEqualTo("BUSY");
		MAY_END.release();
		assertThat(first.answer()).isEqualTo("done");
		MAY_END.release();
		assertThat(second.ask(method)).isEqualTo("done");
	}

	/** Called by the database. Only the first of two bodies at a time is held. */
	public static int enterBody() throws InterruptedException {
		try {
			if (BODIES.incrementAndGet() == 1) {
				assertThat(MAY_END.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
			}
			return 1;
		}
		finally {
			BODIES.decrementAndGet();
		}
	}

	/** Runs before each row is inserted. */
	public static final class BodyTrigger implements Trigger {

		@Override
		public void fire(Connection connection, Object[] before, Object[] after) throws SQLException {
			try {
				enterBody();
			}
			catch (InterruptedException ex) {
				throw new SQLException(ex);
			}
		}

	}

}
