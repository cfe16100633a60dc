package io.distributedlock.jdbc;

import java.sql.Connection;
import java.util.List;
import java.util.Objects;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** Faults of the PostgreSQL server of the tests. */
final class PostgresFaults extends JdbcFaults {

	PostgresFaults(JdbcFixture fixture) {
		super(fixture);
	}

	@Override
	public ProcessHandle process() {
		// The backend process lasts only as long as its connection.
		return Objects.requireNonNull(jdbc().execute((Connection connection) -> {
			long backend = (Integer) session(new JdbcTemplate(new SingleConnectionDataSource(connection, true)));
			return ProcessHandle.of(backend).flatMap(ProcessHandle::parent).orElseThrow();
		}));
	}

	@Override
	Object session(JdbcTemplate jdbc) {
		return Objects.requireNonNull(jdbc.queryForObject("SELECT pg_backend_pid()", Integer.class));
	}

	/** A trigger, because a constraint would wait for the transactions of row locks. */
	@Override
	void refuseWrites(JdbcTemplate jdbc, String key) {
		jdbc.execute(refusal("IF NEW.lock_key = " + key + " THEN RAISE EXCEPTION 'refused_key'; END IF;"));
		jdbc.execute("CREATE OR REPLACE TRIGGER refused_key BEFORE INSERT OR UPDATE ON distributed_lock FOR EACH ROW "
				+ "EXECUTE FUNCTION refused_key()");
	}

	@Override
	void permitWrites(JdbcTemplate jdbc) {
		jdbc.execute(refusal(""));
	}

	private static String refusal(String check) {
		return "CREATE OR REPLACE FUNCTION refused_key() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + check
				+ " RETURN NEW; END $$";
	}

	@Override
	int kill(List<Object> spared) {
		List<Boolean> killed = jdbc().queryForList("""
				SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid <> ALL (?::int[])""",
				Boolean.class, "{" + String.join(",", spared.stream().map(Object::toString).toList()) + "}");
		return (int) killed.stream().filter(Boolean.TRUE::equals).count();
	}

}
