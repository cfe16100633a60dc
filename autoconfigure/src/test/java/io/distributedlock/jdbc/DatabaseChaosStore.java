package io.distributedlock.jdbc;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntUnaryOperator;

import javax.sql.DataSource;

import io.distributedlock.chaos.ChaosStore;

/** A database of a server that the tests share. */
public class DatabaseChaosStore implements ChaosStore {

	private final JdbcFixture fixture;

	private final JdbcFaults faults;

	private final String url;

	DatabaseChaosStore(DataSource database, Function<JdbcFixture, JdbcFaults> faults) {
		this.fixture = new JdbcFixture(TestDatabases.withTable(database));
		this.faults = faults.apply(this.fixture);
		this.url = this.fixture.url();
	}

	public static ChaosStore h2() {
		return new DatabaseChaosStore(H2ServerProcess.shared().database(), H2Faults::new);
	}

	public static ChaosStore mySql() {
		return new DatabaseChaosStore(TestDatabases.mySql(), MySqlFaults::new);
	}

	@Override
	public final List<InetSocketAddress> addresses() {
		return this.faults.servers();
	}

	@Override
	public final List<String> properties(IntUnaryOperator ports) {
		int port = ports.applyAsInt(addresses().get(0).getPort());
		return List.of("distributed-lock.provider=jdbc", "distributed-lock.jdbc.initialize-schema=never",
				"spring.datasource.url=" + this.url.replaceFirst("//[^/]+/", "//localhost:" + port + "/"),
				"spring.datasource.username=" + TestDatabases.user(this.url), "spring.datasource.password=");
	}

	@Override
	public final List<ProcessHandle> servers() {
		return List.of(this.faults.process());
	}

	@Override
	public boolean isRestartable() {
		return false;
	}

	@Override
	public final long killConnections() {
		return this.faults.kill(List.of());
	}

	@Override
	public final long heldEntries() {
		return this.fixture.heldEntries();
	}

	@Override
	public void close() throws IOException {
		this.faults.close();
		this.fixture.close();
	}

}
