package io.distributedlock.jdbc;

import javax.sql.DataSource;

import io.distributedlock.support.LockProviderFaultContract;
import io.distributedlock.support.LockProviderFixture;

class H2ServerLockFaultTests extends LockProviderFaultContract {

	private static final DataSource DATABASE = TestDatabases.withTable(H2ServerProcess.shared().database());

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcFixture(DATABASE, H2Faults::new);
	}

}
