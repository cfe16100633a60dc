package io.distributedlock.jdbc;

import javax.sql.DataSource;

import io.distributedlock.interceptor.HeldResultContract;
import io.distributedlock.testkit.LockProviderFixture;

class H2HeldResultTests extends HeldResultContract {

	private static final DataSource DATABASE = TestDatabases.withTable(TestDatabases.h2());

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcFixture(DATABASE);
	}

}
