package io.distributedlock.jdbc;

import javax.sql.DataSource;

import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

@EnabledIfMySqlRuns
class MySqlWithMariaDbDriverLockProviderContractTests extends LockProviderContract {

	private static final DataSource DATABASE = TestDatabases.withTable(TestDatabases.mySqlWithMariaDbDriver());

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcFixture(DATABASE);
	}

}
