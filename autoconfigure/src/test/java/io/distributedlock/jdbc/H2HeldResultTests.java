package io.distributedlock.jdbc;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;

import io.distributedlock.interceptor.HeldResultContract;
import io.distributedlock.testkit.LockProviderFixture;

@Tag("full")
class H2HeldResultTests extends HeldResultContract {

	private static final DataSource DATABASE = TestDatabases.withTable(TestDatabases.h2());

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcFixture(DATABASE);
	}

}
