package io.distributedlock.jdbc;

import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

class PostgresLockProviderContractTests extends LockProviderContract {

	private static final LockDatabase DATABASE = LockDatabase.shared(TestDatabases.withTable(TestDatabases.postgres()));

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcFixture(DATABASE);
	}

}
