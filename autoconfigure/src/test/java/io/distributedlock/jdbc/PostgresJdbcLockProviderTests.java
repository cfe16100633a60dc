package io.distributedlock.jdbc;

import java.time.Duration;

import javax.sql.DataSource;

import org.awaitility.Awaitility;

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

}
