package io.distributedlock.jdbc;

import io.distributedlock.support.LockProviderContract;
import io.distributedlock.support.LockProviderFixture;

class H2LockProviderTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcLockProviderFixture(TestDatabases.h2(), true);
	}

}
