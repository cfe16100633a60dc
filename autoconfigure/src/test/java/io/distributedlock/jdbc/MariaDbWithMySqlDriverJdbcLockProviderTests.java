package io.distributedlock.jdbc;

import javax.sql.DataSource;

class MariaDbWithMySqlDriverJdbcLockProviderTests extends AbstractJdbcLockProviderTests {

	@Override
	DataSource database() {
		return TestDatabases.mariaDbWithMySqlDriver();
	}

	@Override
	String now() {
		return "UTC_TIMESTAMP(6)";
	}

}
