package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;

import javax.sql.DataSource;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.LockContender;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Tag("full")
class PostgresJdbcLockProviderTests extends AbstractJdbcLockProviderTests {

	@Override
	DataSource database() {
		return TestDatabases.postgres();
	}

	@Override
	void awaitListening(JdbcLockProvider waiting, Runnable poll) {
		Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> {
			poll.run();
			return waiting.listener().isReceiving();
		});
	}

	@Test
	void lockedTableIsAFailureAndNoBusyLock() throws Exception {
		acquire(this.provider, KEY, LEASE);
		LockContender waiting = enter(process(Duration.ofSeconds(1)), KEY);
		busy(attempt(waiting, true));
		try (Connection connection = this.database.getConnection()) {
			TestDatabases.begin(connection);
			try (Statement statement = connection.createStatement()) {
				statement.execute("LOCK TABLE distributed_lock IN ACCESS EXCLUSIVE MODE");
			}
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> attempt(waiting, true))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_TIMEOUT))
				.withMessageContaining("locked by another transaction");
			connection.rollback();
		}
	}

}
