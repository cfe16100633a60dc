package io.distributedlock.jdbc;

import javax.sql.DataSource;

class H2MySqlModeJdbcLockProviderTests extends AbstractJdbcLockProviderTests {

	@Override
	DataSource database() {
		return TestDatabases.h2(";MODE=MySQL;IGNORECASE=TRUE");
	}

}
