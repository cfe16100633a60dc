package io.distributedlock.jdbc;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.distributedlock.LockKey;
import io.distributedlock.LockProvider;
import io.distributedlock.support.LockProviderFixture;
import io.distributedlock.support.LockTimer;

/** A lock table in a database of its own. */
class JdbcLockProviderFixture implements LockProviderFixture {

	private final LockTimer timer = new LockTimer();

	private final List<JdbcLockProvider> providers = new ArrayList<>();

	private final HikariDataSource application;

	private final JdbcTemplate jdbc;

	private final boolean binaryKeys;

	JdbcLockProviderFixture(DataSource database, boolean binaryKeys) {
		HikariConfig config = new HikariConfig();
		config.setDataSource(TestDatabases.withTable(database));
		config.setMinimumIdle(0);
		this.application = new HikariDataSource(config);
		this.jdbc = new JdbcTemplate(this.application);
		this.binaryKeys = binaryKeys;
	}

	@Override
	public LockProvider newProcess() {
		JdbcLockProvider provider = new JdbcLockProvider(
				LockDataSource.derive(this.application, 8, Duration.ofSeconds(1)), JdbcLockSettings.defaults("kit"),
				this.timer);
		this.providers.add(provider);
		return provider;
	}

	@Override
	public void expire(LockKey key) {
		String text = new StoreKeys("kit").text(key);
		int rows = this.jdbc.update(
				"UPDATE distributed_lock SET expires_at = CURRENT_TIMESTAMP - INTERVAL '1' SECOND WHERE lock_key = ?",
				this.binaryKeys ? (Object) text.getBytes(StandardCharsets.UTF_8) : text);
		if (rows != 1) {
			throw new IllegalStateException("No row for " + key);
		}
	}

	@Override
	public long heldEntries() {
		Long count = this.jdbc.queryForObject(
				"SELECT count(*) FROM distributed_lock WHERE "
						+ "(owner IS NOT NULL AND expires_at > CURRENT_TIMESTAMP) OR next_until > CURRENT_TIMESTAMP",
				Long.class);
		return (count != null) ? count : 0;
	}

	@Override
	public Duration pollBound() {
		return Duration.ofMillis(250);
	}

	@Override
	public void close() {
		this.providers.forEach(JdbcLockProvider::close);
		this.application.close();
		this.timer.close();
	}

}
