package io.distributedlock.jdbc;

import javax.sql.DataSource;

class H2JdbcLockProviderTests extends AbstractJdbcLockProviderTests {

	@Override
	DataSource database() {
		return TestDatabases.h2();
	}

}
