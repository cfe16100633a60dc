package io.distributedlock.jdbc;

import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

class HsqldbLockProviderContractTests extends LockProviderContract {

	private static final LockDatabase DATABASE = LockDatabase.shared(TestDatabases.withTable(TestDatabases.hsqldb()));

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcFixture(DATABASE);
	}

}
