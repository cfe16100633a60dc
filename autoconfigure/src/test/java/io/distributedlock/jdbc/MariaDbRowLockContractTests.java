package io.distributedlock.jdbc;

import org.junit.jupiter.api.Tag;

import javax.sql.DataSource;

@Tag("matrix")
class MariaDbRowLockContractTests extends AbstractRowLockContractTests {

	private static final DataSource DATABASE = TestDatabases.withTable(TestDatabases.mariaDb());

	@Override
	RowLockFixture createRowLocks() {
		return new RowLockFixture(DATABASE);
	}

}
