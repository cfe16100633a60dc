package io.distributedlock.jdbc;

import io.distributedlock.support.LockProviderContract;
import io.distributedlock.support.LockProviderFixture;

class PostgresLockProviderTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcLockProviderFixture(TestDatabases.postgres(), false);
	}

}
