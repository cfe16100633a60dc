package io.distributedlock.jdbc;

import javax.sql.DataSource;

import io.distributedlock.support.LockProviderFaultContract;
import io.distributedlock.support.LockProviderFixture;

class PostgresLockFaultTests extends LockProviderFaultContract {

	private static final DataSource DATABASE = TestDatabases.withTable(TestDatabases.postgres());

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcFixture(DATABASE, PostgresFaults::new);
	}

}
