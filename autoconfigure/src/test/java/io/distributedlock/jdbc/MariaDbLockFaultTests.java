package io.distributedlock.jdbc;

import javax.sql.DataSource;

import io.distributedlock.support.LockProviderFaultContract;
import io.distributedlock.support.LockProviderFixture;

class MariaDbLockFaultTests extends LockProviderFaultContract {

	private static final DataSource DATABASE = TestDatabases.withTable(TestDatabases.mariaDb());

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcFixture(DATABASE, MariaDbFaults::new);
	}

}
