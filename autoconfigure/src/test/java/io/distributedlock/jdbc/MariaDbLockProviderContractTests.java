package io.distributedlock.jdbc;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;

import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

@Tag("full")
class MariaDbLockProviderContractTests extends LockProviderContract {

	private static final DataSource DATABASE = TestDatabases.withTable(TestDatabases.mariaDb());

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcFixture(DATABASE);
	}

}
