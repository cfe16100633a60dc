package io.distributedlock.process;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.springframework.jdbc.core.JdbcTemplate;

import io.distributedlock.jdbc.TestDatabases;

/** The rows that locks have left in their table. */
final class LockRows {

	private final JdbcTemplate jdbc;

	private final String now;

	LockRows(Endpoint database) {
		this.jdbc = database.jdbc();
		this.now = TestDatabases.clock(database.url());
	}

	/** All columns of all locks. */
	List<Map<String, Object>> all() {
		return this.jdbc.queryForList("SELECT owner, grant_order, expires_at, acquired_at, holder, first_waiter "
				+ "FROM distributed_lock WHERE acquired_at > 0 ORDER BY lock_key");
	}

	/** How long the only lock that is held lasts unless it is renewed. */
	Duration remaining() {
		Long micros = this.jdbc.queryForObject(
				"SELECT expires_at - " + this.now + " FROM distributed_lock WHERE owner NOT LIKE 'free%'", Long.class);
		return Duration.ofNanos(micros * 1000);
	}

	/** Whether a process waits for a lock. */
	boolean waited() {
		return Boolean.TRUE.equals(this.jdbc.queryForObject(
				"SELECT count(*) > 0 FROM distributed_lock WHERE first_waiter_until > " + this.now, Boolean.class));
	}

	/** How many locks are held or reserved. */
	int held() {
		return this.jdbc.queryForObject(
				"SELECT count(*) FROM distributed_lock WHERE owner NOT LIKE 'free%' AND expires_at > " + this.now,
				Integer.class);
	}

	String resource() {
		return this.jdbc.queryForObject("SELECT v FROM resource WHERE id = 1", String.class);
	}

}
