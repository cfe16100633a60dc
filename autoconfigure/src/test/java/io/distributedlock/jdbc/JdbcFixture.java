package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;

import io.distributedlock.LockKey;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.dialect.Dialect;
import io.distributedlock.jdbc.dialect.DialectSql;
import io.distributedlock.jdbc.dialect.LockKeyEncoder;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.testkit.LockProviderFixture;
import io.distributedlock.testkit.StoreFaults;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Lock table of one database, emptied for each test. Each process has its own pool.
 */
public class JdbcFixture implements LockProviderFixture {

	public static final String PREFIX = "contract-kit";

	/** The default of an application, for tests of a database that does not answer. */
	private static final Duration CALL_TIMEOUT = Duration.ofSeconds(1);

	/** Leaves time for the first connection of a pool to a database that is slow. */
	private static final Duration PATIENCE = Duration.ofSeconds(5);

	private final List<AutoCloseable> processes = new ArrayList<>();

	private final List<String> processIds = new ArrayList<>();

	private final LockTimer timer = new LockTimer();

	private final JdbcTemplate jdbc;

	private final String url;

	private final String user;

	private final Dialect dialect;

	private final String now;

	private final @Nullable JdbcFaults faults;

	public JdbcFixture(DataSource database) {
		this(database, null);
	}

	public JdbcFixture(DataSource database, @Nullable Function<JdbcFixture, ? extends JdbcFaults> faults) {
		this(LockDatabase.of(database), faults);
	}

	public JdbcFixture(LockDatabase database) {
		this(database, null);
	}

	private JdbcFixture(LockDatabase database, @Nullable Function<JdbcFixture, ? extends JdbcFaults> faults) {
		this.jdbc = database.jdbc();
		this.url = database.url();
		this.user = database.user();
		this.dialect = database.dialect();
		this.now = DialectSql.clock(this.dialect);
		this.jdbc.update("DELETE FROM distributed_lock WHERE holder IS NOT NULL");
		if (hasShares()) {
			this.jdbc.update("DELETE FROM distributed_lock_share");
		}
		this.faults = (faults != null) ? faults.apply(this) : null;
	}

	@Override
	public boolean hasShares() {
		return this.dialect.supportsRowLocks();
	}

	@Override
	public Optional<StoreFaults> faults() {
		return Optional.ofNullable(this.faults);
	}

	public JdbcTemplate jdbc() {
		return this.jdbc;
	}

	public String url() {
		return this.url;
	}

	List<String> processIds() {
		return this.processIds;
	}

	/** Returns the key in the form of the key column. */
	public Object storeKey(LockKey key) {
		String text = new LockKeyEncoder(PREFIX).encode(key);
		return DialectSql.stored(this.dialect, text);
	}

	/** Creates a process that has opened its first connection. */
	@Override
	public final LockProvider newProcess() {
		LockProvider process = newProcess(this.url);
		TestDatabases.warmUp(process);
		return process;
	}

	public LockProvider newProcess(String url) {
		JdbcLockProvider process = new JdbcLockProvider(connect(url, LockDataSource.DEFAULT_SIZE, callTimeout()),
				new JdbcLockSettings(PREFIX, JdbcLockSettings.DEFAULT_TABLE, JdbcLockSettings.DEFAULT_RETENTION, true),
				this.timer);
		return remember(process, process.process());
	}

	public final LockDataSource connect(String url, int size, Duration callTimeout) {
		return LockDataSource.connect(url, this.user, TestDatabases.password(url), null, size, callTimeout);
	}

	public final <T extends AutoCloseable> T remember(T process, String id) {
		this.processes.add(process);
		this.processIds.add(id);
		return process;
	}

	public final Duration callTimeout() {
		return (this.faults != null) ? CALL_TIMEOUT : PATIENCE;
	}

	public final LockTimer timer() {
		return this.timer;
	}

	@Override
	public void expire(LockKey key) {
		assertThat(this.jdbc.update(
				"UPDATE distributed_lock SET expires_at = " + this.now + " - 1000000 WHERE lock_key = ?",
				storeKey(key)))
			.isEqualTo(1);
	}

	@Override
	public long heldEntries() {
		Long entries = this.jdbc.queryForObject(
				"""
						SELECT {shares} + count(*) FROM distributed_lock WHERE (owner NOT LIKE 'free%' AND expires_at > {now})
						OR (first_waiter NOT LIKE '.%' AND first_waiter_until > {now})
						OR (second_waiter NOT LIKE '.%' AND second_waiter_until > {now})"""
					.replace("{shares}",
							hasShares() ? "(SELECT count(*) FROM distributed_lock_share WHERE expires_at > {now})"
									: "0")
					.replace("{now}", this.now),
				Long.class);
		return (entries != null) ? entries : -1;
	}

	@Override
	public Duration pollBound() {
		return this.url.startsWith("jdbc:postgresql") ? Duration.ofSeconds(1) : Duration.ofMillis(250);
	}

	@Override
	public void close() {
		if (this.faults != null) {
			this.faults.close();
		}
		this.processes.forEach(JdbcFixture::close);
		this.timer.close();
	}

	private static void close(AutoCloseable process) {
		try {
			process.close();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

}
