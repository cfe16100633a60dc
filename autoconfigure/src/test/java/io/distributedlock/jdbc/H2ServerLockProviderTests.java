package io.distributedlock.jdbc;

import io.distributedlock.support.LockProviderContract;
import io.distributedlock.support.LockProviderFixture;

class H2ServerLockProviderTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcLockProviderFixture(TestDatabases.h2Server(), true);
	}

}
