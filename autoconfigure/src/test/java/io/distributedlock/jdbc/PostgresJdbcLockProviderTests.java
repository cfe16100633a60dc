package io.distributedlock.jdbc;

import javax.sql.DataSource;

class PostgresJdbcLockProviderTests extends AbstractJdbcLockProviderTests {

	@Override
	DataSource database() {
		return TestDatabases.postgres();
	}

}
