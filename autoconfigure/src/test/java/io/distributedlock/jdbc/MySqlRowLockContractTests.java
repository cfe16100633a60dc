package io.distributedlock.jdbc;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;

@Tag("matrix")
@EnabledIfMySqlRuns
class MySqlRowLockContractTests extends AbstractRowLockContractTests {

	private static final DataSource DATABASE = TestDatabases.withTable(TestDatabases.mySql());

	@Override
	RowLockFixture createRowLocks() {
		return new RowLockFixture(DATABASE);
	}

}
