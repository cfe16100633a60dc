package io.distributedlock.jdbc;

import org.junit.jupiter.api.Tag;

import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

@Tag("matrix")
class DerbyLockProviderContractTests extends LockProviderContract {

	private static final LockDatabase DATABASE = LockDatabase.shared(TestDatabases.withTable(TestDatabases.derby()));

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcFixture(DATABASE);
	}

}
