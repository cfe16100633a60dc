package io.distributedlock.jdbc;

import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

class H2LockProviderContractTests extends LockProviderContract {

	private static final LockDatabase DATABASE = LockDatabase.shared(TestDatabases.withTable(TestDatabases.h2()));

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcFixture(DATABASE);
	}

}
