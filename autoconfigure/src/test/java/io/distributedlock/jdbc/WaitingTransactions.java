package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.fail;

/** The transactions of a database that wait for a row which another one has locked. */
public final class WaitingTransactions {

	/**
	 * What tests wait before each look. InnoDB refreshes its table of transactions only
	 * if that was not read for 100 ms: to a test that polls faster it never changes.
	 */
	public static final Duration POLL_INTERVAL = Duration.ofMillis(250);

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	/**
	 * A statement that has begun: H2 repeats an insert that waits for another one, and
	 * tells of no blocker meanwhile.
	 */
	private static final String H2 = """
			SELECT count(*) FROM information_schema.sessions
			WHERE session_id <> SESSION_ID() AND executing_statement IS NOT NULL""";

	private static final String POSTGRESQL = """
			SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'""";

	private static final String INNODB = """
			SELECT count(*) FROM information_schema.innodb_trx t
			JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
			WHERE t.trx_state = 'LOCK WAIT' AND p.db = DATABASE()""";

	private final JdbcTemplate jdbc;

	private final String url;

	private final String query;

	public WaitingTransactions(DataSource database) {
		this.jdbc = new JdbcTemplate(database);
		this.url = this.jdbc.execute((ConnectionCallback<String>) (connection) -> connection.getMetaData().getURL());
		this.query = TestDatabases.isMySqlCompatible(this.url) ? INNODB
				: this.url.startsWith("jdbc:h2:") ? H2 : POSTGRESQL;
	}

	/** Whether there is one. To be asked every {@link #POLL_INTERVAL} at most. */
	public boolean exist() {
		return this.jdbc.queryForObject(this.query, Long.class) > 0;
	}

	/** Waits until there is one, which fails once the call that should wait has ended. */
	public void await(Future<?> call) {
		await(() -> call.isDone() ? outcome(call) : null);
	}

	/**
	 * Waits until there is one.
	 * @param outcome supplies the outcome of the call that should wait once it has ended,
	 * which fails
	 */
	public void await(Supplier<@Nullable String> outcome) {
		Awaitility.await("a waiting transaction in " + this.url)
			.atMost(PATIENCE)
			.pollDelay(POLL_INTERVAL)
			.pollInterval(POLL_INTERVAL)
			.until(() -> {
				String ended = outcome.get();
				if (ended != null) {
					fail("The call that should wait in %s has ended: %s", this.url, ended);
				}
				return exist();
			});
	}

	private static String outcome(Future<?> call) {
		try {
			return String.valueOf(call.get(0, TimeUnit.SECONDS));
		}
		catch (ExecutionException ex) {
			return ex.getCause().toString();
		}
		catch (InterruptedException | TimeoutException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
