package io.distributedlock.jdbc.rowlock;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.JdbcLockSettings;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.dialect.LockRow;
import io.distributedlock.provider.AttemptResult.Granted;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.testkit.StoreCalls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Renewal of row locks while the pool for all other statements has no connection. */
class RowLockRenewalTests {

	private static final Duration LEASE = Duration.ofMinutes(1);

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private final DataSource database = TestDatabases.withTable(TestDatabases.h2());

	private final AtomicBoolean refused = new AtomicBoolean();

	private final LockTimer timer = new LockTimer();

	private final LockDataSource rows = LockDataSource.connect(TestDatabases.url(this.database), "sa", "", null, 4,
			TIMEOUT);

	private final JdbcRowLockProvider provider = new JdbcRowLockProvider(LockDataSource.of(refusing(), 4), this.rows,
			TIMEOUT, JdbcLockSettings.defaults("app"), this.timer);

	@AfterEach
	void close() {
		this.refused.set(false);
		this.provider.close();
		this.rows.close();
		this.timer.close();
	}

	private DataSource refusing() {
		return new DelegatingDataSource(this.database) {
			@Override
			public Connection getConnection() throws SQLException {
				if (RowLockRenewalTests.this.refused.get()) {
					throw new SQLTransientConnectionException("The test refuses connections");
				}
				return super.getConnection();
			}
		};
	}

	private LockGrant acquire(String name) {
		return ((Granted) StoreCalls.resultOf(this.provider.newContender(LockKey.of(name), () -> {
			// The test attempts by itself.
		}).attempt(OwnerId.random(), LEASE, false, TIMEOUT))).grant();
	}

	private Map<LockGrant, RenewalOutcome> renew(LockGrant first, LockGrant second) {
		return StoreCalls.resultOf(this.provider.renew(Map.of(first, LEASE, second, LEASE), TIMEOUT));
	}

	@Test
	void endedSessionIsToldAlthoughTheOrdersCannotBeRenewed() {
		LockGrant ended = acquire("ended");
		LockGrant healthy = acquire("healthy");
		HeldRow row = this.provider.heldRows().find(LockRow.lockedBy(ended.owner()));
		assertThat(row).isNotNull();
		assertThat(
				new JdbcTemplate(this.database).queryForObject("SELECT ABORT_SESSION(?)", Boolean.class, row.session))
			.isTrue();
		this.refused.set(true);
		assertThat(renew(ended, healthy)).containsEntry(ended, RenewalOutcome.NOT_HELD)
			.containsEntry(healthy, RenewalOutcome.UNKNOWN);
		this.refused.set(false);
		assertThat(renew(ended, healthy)).containsEntry(ended, RenewalOutcome.NOT_HELD)
			.containsEntry(healthy, RenewalOutcome.RENEWED);
	}

	@Test
	void renewalFailsWithItsReasonWhileAllSessionsLive() {
		LockGrant first = acquire("first");
		LockGrant second = acquire("second");
		this.refused.set(true);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> renew(first, second))
			.withMessageContaining("The test refuses connections");
	}

}
