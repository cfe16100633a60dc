package io.distributedlock.jdbc;

import javax.sql.DataSource;

class MariaDbJdbcLockProviderTests extends AbstractJdbcLockProviderTests {

	@Override
	DataSource database() {
		return TestDatabases.mariaDb();
	}

	@Override
	String now() {
		return "UTC_TIMESTAMP(6)";
	}

}
