package io.distributedlock.jdbc;

import java.util.List;
import java.util.Objects;

import org.springframework.jdbc.core.JdbcTemplate;

/** Faults of an H2 server in a process of its own. */
final class H2Faults extends JdbcFaults {

	H2Faults(JdbcFixture fixture) {
		super(fixture);
	}

	@Override
	public ProcessHandle process() {
		return H2ServerProcess.shared().handle();
	}

	@Override
	Object session(JdbcTemplate jdbc) {
		return Objects.requireNonNull(jdbc.queryForObject("SELECT SESSION_ID()", Integer.class));
	}

	@Override
	void refuseWrites(JdbcTemplate jdbc, String key) {
		jdbc.execute(check(key) + " NOCHECK");
	}

	@Override
	int kill(List<Object> spared) {
		int killed = 0;
		for (Integer session : jdbc().queryForList(
				"SELECT session_id FROM information_schema.sessions WHERE session_id <> SESSION_ID()", Integer.class)) {
			if (!spared.contains(session)
					&& Boolean.TRUE.equals(jdbc().queryForObject("SELECT ABORT_SESSION(?)", Boolean.class, session))) {
				killed++;
			}
		}
		return killed;
	}

}
