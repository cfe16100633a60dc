package io.distributedlock.jdbc;

import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

import javax.sql.DataSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import io.distributedlock.LockKey;
import io.distributedlock.jdbc.dialect.LockKeyEncoder;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.ProcessLabel;
import io.distributedlock.testkit.FrozenProcesses;
import io.distributedlock.testkit.StoreFaults;
import io.distributedlock.testkit.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Faults of a database that is accessed over TCP.
 */
public abstract class JdbcFaults implements StoreFaults {

	private final JdbcFixture fixture;

	private final List<Fault> open = new ArrayList<>();

	JdbcFaults(JdbcFixture fixture) {
		this.fixture = fixture;
	}

	/** Returns the server's process, which may have child processes. */
	public abstract ProcessHandle process();

	/** Returns the id of a session for {@link #kill}. */
	abstract Object session(JdbcTemplate jdbc);

	/**
	 * Ends all sessions but its own and those given.
	 * @return how many sessions were ended
	 */
	abstract int kill(List<Object> spared);

	/**
	 * Refuses to write rows with a key, although such a row can be there.
	 * @param key the literal of the key
	 */
	abstract void refuseWrites(JdbcTemplate jdbc, String key);

	/** Permits what was refused. */
	void permitWrites(JdbcTemplate jdbc) {
		jdbc.execute("ALTER TABLE distributed_lock DROP CONSTRAINT refused_key");
	}

	static String check(String key) {
		return "ALTER TABLE distributed_lock ADD CONSTRAINT refused_key CHECK (lock_key <> " + key + ")";
	}

	public final JdbcTemplate jdbc() {
		return this.fixture.jdbc();
	}

	@Override
	public List<InetSocketAddress> servers() {
		URI uri = URI.create(this.fixture.url().replaceFirst("^jdbc:((h2|mariadb|mysql):)?", ""));
		return List.of(new InetSocketAddress(uri.getHost(), uri.getPort()));
	}

	@Override
	public LockProvider newProcess(TcpProxy proxy) {
		return this.fixture
			.newProcess(this.fixture.url().replaceFirst("//[^/]+/", "//localhost:" + proxy.port() + "/"));
	}

	/**
	 * Distinguishes the statements by their arguments, because a packet need not have
	 * their text: only an attempt has the holder's label, only a release the process.
	 */
	@Override
	public Predicate<byte[]> packet(Command command, LockKey key) {
		Object stored = this.fixture.storeKey(key);
		String name = (stored instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : (String) stored;
		// A batch may carry its keys as hexadecimal digits.
		String digits = HexFormat.of().formatHex(name.getBytes(StandardCharsets.UTF_8));
		return (bytes) -> {
			// Some protocols send two bytes for a character.
			String packet = new String(bytes, StandardCharsets.ISO_8859_1).replace("\0", "");
			return !packet.contains(LockKeyEncoder.ROW) && (packet.contains(name) || packet.contains(digits))
					&& kind(packet) == command;
		};
	}

	private Command kind(String packet) {
		if (packet.contains(ProcessLabel.get())) {
			return Command.ACQUIRE;
		}
		boolean process = this.fixture.processIds().stream().anyMatch(packet::contains);
		return process ? Command.RELEASE : Command.RENEWAL;
	}

	@Override
	public Fault freeze() {
		return remember(FrozenProcesses.freeze(process()));
	}

	private Fault remember(Fault fault) {
		this.open.add(fault);
		return () -> {
			if (this.open.remove(fault)) {
				fault.close();
			}
		};
	}

	@Override
	public Fault lockEntry(LockKey key) {
		DataSource database = Objects.requireNonNull(jdbc().getDataSource());
		try {
			Connection other = database.getConnection();
			other.setAutoCommit(false);
			try (PreparedStatement statement = other
				.prepareStatement("SELECT owner FROM distributed_lock WHERE lock_key = ? FOR UPDATE")) {
				statement.setObject(1, this.fixture.storeKey(key));
				assertThat(statement.executeQuery().next()).as("row of %s to be locked", key).isTrue();
			}
			return remember(new RowLock(other));
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public Fault refuseWrites(LockKey key) {
		Object stored = this.fixture.storeKey(key);
		String literal = (stored instanceof byte[] bytes) ? "X'" + HexFormat.of().formatHex(bytes) + "'"
				: "'" + stored + "'";
		jdbc().execute((Connection connection) -> {
			refuseWrites(new JdbcTemplate(new SingleConnectionDataSource(connection, true)), literal);
			return true;
		});
		return remember(() -> permitWrites(jdbc()));
	}

	@Override
	public void killConnections() {
		List<Object> spared = new ArrayList<>();
		for (Fault fault : this.open) {
			if (fault instanceof RowLock lock) {
				spared.add(session(new JdbcTemplate(new SingleConnectionDataSource(lock.connection(), true))));
			}
		}
		assertThat(kill(spared)).as("connections killed").isPositive();
	}

	@Override
	public void advanceOrder(LockKey key, Duration by) {
		assertThat(jdbc().update("UPDATE distributed_lock SET grant_order = grant_order + ? WHERE lock_key = ?",
				by.toNanos() / 1000, this.fixture.storeKey(key)))
			.isEqualTo(1);
	}

	@Override
	public void close() {
		List.copyOf(this.open).forEach(Fault::close);
		this.open.clear();
	}

	/** Transaction of another client that locks a row. */
	private record RowLock(Connection connection) implements Fault {

		@Override
		public void close() {
			try (Connection ending = this.connection) {
				ending.rollback();
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
