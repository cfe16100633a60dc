package io.distributedlock.jdbc.dialect;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import javax.net.SocketFactory;

import com.zaxxer.hikari.HikariDataSource;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.postgresql.core.PGStream;
import org.postgresql.core.QueryExecutorBase;
import org.postgresql.jdbc.PgConnection;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.util.ReflectionTestUtils;

import io.distributedlock.FreePorts;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.jdbc.connection.DedicatedConnection;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.provider.Deadline;
import io.distributedlock.zookeeper.TestCertificates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Socket of the connection that listens for notifications of PostgreSQL. */
@Tag("full")
class NotificationSocketTests {

	private static final Duration CALL_TIMEOUT = Duration.ofSeconds(5);

	private static final int NOTIFICATIONS = 200;

	private final String url = TestDatabases.url(TestDatabases.postgres());

	@Test
	void onlyTheListenerOfAPoolHasTheSocket() throws Exception {
		try (LockDataSource own = LockDataSource.connect(this.url, "postgres", "", null, 1, CALL_TIMEOUT)) {
			assertThat(listenersFactory(own)).isInstanceOf(NotificationSocketFactory.class);
			try (Connection connection = own.connections().borrow(Deadline.after(CALL_TIMEOUT))) {
				assertThat(factory(connection)).isNotInstanceOf(NotificationSocketFactory.class);
			}
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void listenerOfTheApplicationsPoolHasTheSocket(boolean shared) throws Exception {
		try (HikariDataSource application = pool(this.url)) {
			assertThat(listenersFactory(application, shared)).isInstanceOf(NotificationSocketFactory.class);
			try (Connection connection = application.getConnection()) {
				assertThat(factory(connection)).isNotInstanceOf(NotificationSocketFactory.class);
			}
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void socketFactoryOfTheApplicationIsKept(boolean shared) throws Exception {
		try (HikariDataSource application = pool(this.url)) {
			application.addDataSourceProperty("socketFactory", ApplicationFactory.class.getName());
			assertThat(listenersFactory(application, shared)).isInstanceOf(ApplicationFactory.class);
		}
		String parameter = (this.url.contains("?") ? "&" : "?") + "socketFactory=" + ApplicationFactory.class.getName();
		try (HikariDataSource application = pool(this.url + parameter)) {
			assertThat(listenersFactory(application, shared)).isInstanceOf(ApplicationFactory.class);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void dataSourceOfTheApplicationConnectsByItself(boolean shared) throws Exception {
		try (HikariDataSource application = new HikariDataSource()) {
			application.setDataSource(TestDatabases.postgres());
			assertThat(listenersFactory(application, shared)).isNotInstanceOf(NotificationSocketFactory.class);
		}
	}

	@Test
	void socketIsOnlyForADriverThatCanCreateIt() {
		assertThat(DriverProperties.ofListener("jdbc:postgresql://db/x")).containsOnlyKeys("socketFactory");
		assertThat(DriverProperties.ofListener("jdbc:p6spy:postgresql://db/x")).containsOnlyKeys("socketFactory");
		assertThat(DriverProperties.ofListener("jdbc:postgresql://db/x?socketFactory=a.B")).isEmpty();
		assertThat(DriverProperties.ofListener("jdbc:postgresql:///x?service=shop")).isEmpty();
		assertThat(DriverProperties.ofListener("jdbc:mariadb://db/x")).isEmpty();
		assertThat(DriverProperties.ofListener(null)).isEmpty();
		assertThat(PostgresDialect.driverLoads("com.example.Missing")).isFalse();
	}

	@Test
	void notificationsArriveUntilTheServerEndsTheConnection() throws Exception {
		assertListens(this.url, false);
	}

	@Test
	void notificationsArriveOverTls(@TempDir Path directory) throws Exception {
		Path certificate = Files.writeString(directory.resolve("server.crt"), TestCertificates.certificate("server"));
		Path key = Files.writeString(directory.resolve("server.key"), TestCertificates.privateKey("server"));
		Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
		try (EmbeddedPostgres server = EmbeddedPostgres.builder()
			.setPort(FreePorts.next())
			.setServerConfig("ssl", "on")
			.setServerConfig("ssl_cert_file", certificate.toString())
			.setServerConfig("ssl_key_file", key.toString())
			.setPGStartupWait(Duration.ofMinutes(1))
			.start()) {
			assertListens("jdbc:postgresql://localhost:" + server.getPort() + "/postgres?sslmode=require", true);
		}
	}

	private static void assertListens(String url, boolean tls) throws SQLException {
		try (LockDataSource own = LockDataSource.connect(url, "postgres", "", null, 1, CALL_TIMEOUT);
				DedicatedConnection listening = own.connections().openDedicated();
				HikariDataSource senders = pool(url)) {
			assertThat(factory(listening.connection())).isInstanceOf(NotificationSocketFactory.class);
			JdbcTemplate sender = new JdbcTemplate(senders);
			execute(listening.connection(), "LISTEN channel");
			int session = PostgresDialect.processId(listening.connection());
			assertThat(sender.queryForObject("SELECT ssl FROM pg_stat_ssl WHERE pid = ?", Boolean.class, session))
				.isEqualTo(tls);
			PGConnection driver = listening.connection().unwrap(PGConnection.class);
			List<String> sent = new ArrayList<>();
			List<String> received = new ArrayList<>();
			for (int i = 0; i < NOTIFICATIONS; i++) {
				// Long ones may arrive in several pieces.
				sent.add("x".repeat(i * 35) + i);
				sender.queryForObject("SELECT pg_notify('channel', ?)::text", String.class, sent.get(i));
				received.addAll(payloads(driver.getNotifications(1 + i % 2)));
			}
			await().until(() -> {
				received.addAll(payloads(driver.getNotifications(100)));
				return received.size() >= NOTIFICATIONS;
			});
			assertThat(received).isEqualTo(sent);
			assertThat(driver.getNotifications(1)).isNullOrEmpty();
			sender.queryForObject("SELECT pg_terminate_backend(?)", Boolean.class, session);
			assertThatExceptionOfType(SQLException.class).isThrownBy(() -> driver.getNotifications(10_000));
		}
	}

	private static List<String> payloads(PGNotification[] notifications) {
		return (notifications != null) ? Arrays.stream(notifications).map(PGNotification::getParameter).toList()
				: List.of();
	}

	@Test
	void peekDoesNotWaitAndAReadDoes() throws IOException {
		try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
				Socket client = new NotificationSocketFactory().createSocket()) {
			client.connect(server.getLocalSocketAddress());
			try (Socket accepted = server.accept()) {
				client.setSoTimeout(1);
				assertThatExceptionOfType(SocketTimeoutException.class)
					.isThrownBy(() -> client.getInputStream().read(new byte[1]))
					.withMessage("Nothing to read");
				accepted.getOutputStream().write(new byte[] { 7, 8 });
				client.setSoTimeout(60_000);
				assertThat(client.getInputStream().read()).isEqualTo(7);
				client.setSoTimeout(1);
				byte[] next = new byte[1];
				assertThat(client.getInputStream().read(next)).isEqualTo(1);
				assertThat(next).containsExactly(8);
			}
			client.setSoTimeout(60_000);
			assertThat(client.getInputStream().read()).isEqualTo(-1);
		}
	}

	private static HikariDataSource pool(String url) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(url);
		pool.setUsername("postgres");
		pool.setMaximumPoolSize(1);
		return pool;
	}

	private static SocketFactory listenersFactory(HikariDataSource application, boolean shared) throws SQLException {
		try (LockDataSource locks = shared ? LockDataSource.of(application, 1)
				: LockDataSource.derive(application, 1, CALL_TIMEOUT)) {
			return listenersFactory(locks);
		}
	}

	private static SocketFactory listenersFactory(LockDataSource locks) throws SQLException {
		try (DedicatedConnection listening = await().ignoreExceptionsInstanceOf(LockProviderException.class)
			.until(() -> locks.connections().openDedicated(), (opened) -> true)) {
			return factory(listening.connection());
		}
	}

	private static SocketFactory factory(Connection connection) throws SQLException {
		QueryExecutorBase executor = (QueryExecutorBase) connection.unwrap(PgConnection.class).getQueryExecutor();
		return ((PGStream) ReflectionTestUtils.getField(executor, "pgStream")).getSocketFactory();
	}

	private static void execute(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	/** Factory of an application, such as one for a tunnel to a database in a cloud. */
	public static final class ApplicationFactory extends SocketFactory {

		private final SocketFactory target = SocketFactory.getDefault();

		@Override
		public Socket createSocket() throws IOException {
			return this.target.createSocket();
		}

		@Override
		public Socket createSocket(String host, int port) throws IOException {
			return this.target.createSocket(host, port);
		}

		@Override
		public Socket createSocket(String host, int port, InetAddress localHost, int localPort) throws IOException {
			return this.target.createSocket(host, port, localHost, localPort);
		}

		@Override
		public Socket createSocket(InetAddress host, int port) throws IOException {
			return this.target.createSocket(host, port);
		}

		@Override
		public Socket createSocket(InetAddress address, int port, InetAddress localAddress, int localPort)
				throws IOException {
			return this.target.createSocket(address, port, localAddress, localPort);
		}

	}

}
