package io.distributedlock.jdbc.rowlock;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;

import io.distributedlock.jdbc.TestDatabases;

@Tag("matrix")
class MariaDbRowLockContractTests extends AbstractRowLockContractTests {

	private static final DataSource DATABASE = TestDatabases.withTable(TestDatabases.mariaDb());

	@Override
	public RowLockFixture createRowLocks() {
		return new RowLockFixture(DATABASE);
	}

}
