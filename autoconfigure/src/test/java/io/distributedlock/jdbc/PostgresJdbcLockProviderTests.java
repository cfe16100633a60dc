package io.distributedlock.jdbc;

import javax.sql.DataSource;

import org.awaitility.Awaitility;

class PostgresJdbcLockProviderTests extends AbstractJdbcLockProviderTests {

	@Override
	DataSource database() {
		return TestDatabases.postgres();
	}

	@Override
	void awaitListening(JdbcLockProvider waiting) {
		Awaitility.await().until(waiting.listener()::isReceiving);
	}

}
