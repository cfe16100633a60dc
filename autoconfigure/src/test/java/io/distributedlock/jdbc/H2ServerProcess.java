package io.distributedlock.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.UUID;

import javax.sql.DataSource;

import org.h2.jdbcx.JdbcDataSource;
import org.h2.tools.Server;

/**
 * H2 server in a JVM of its own, which can be frozen. It ends with the tests.
 */
final class H2ServerProcess {

	private final Process process;

	private final int port;

	private H2ServerProcess() {
		try {
			this.process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
					"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp",
					System.getProperty("java.class.path"), Main.class.getName())
				.redirectError(Redirect.DISCARD)
				.start();
			Runtime.getRuntime().addShutdownHook(new Thread(this.process::destroyForcibly));
			this.port = Integer.parseInt(this.process.inputReader().readLine());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static H2ServerProcess shared() {
		return Shared.SERVER;
	}

	ProcessHandle handle() {
		return this.process.toHandle();
	}

	/** Creates a database. */
	DataSource database() {
		JdbcDataSource dataSource = new JdbcDataSource();
		dataSource.setURL("jdbc:h2:tcp://localhost:" + this.port + "/mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		dataSource.setUser("sa");
		dataSource.setPassword("");
		return dataSource;
	}

	private static final class Shared {

		private static final H2ServerProcess SERVER = new H2ServerProcess();

	}

	/** Main class of the server. It prints its port and ends with its standard input. */
	static final class Main {

		private Main() {
		}

		public static void main(String[] arguments) throws Exception {
			Server server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists", "-tcpDaemon").start();
			byte[] output = (server.getPort() + "\n").getBytes();
			System.out.write(output, 0, output.length);
			System.out.flush();
			while (System.in.read() >= 0) {
				Thread.onSpinWait();
			}
		}

	}

}
