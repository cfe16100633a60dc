package io.distributedlock.jdbc;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;

@Tag("matrix")
class MariaDbWithMySqlDriverJdbcLockProviderTests extends AbstractJdbcLockProviderTests {

	@Override
	DataSource database() {
		return TestDatabases.mariaDbWithMySqlDriver();
	}

}
