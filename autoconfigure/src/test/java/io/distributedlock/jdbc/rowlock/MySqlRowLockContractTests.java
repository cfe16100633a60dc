package io.distributedlock.jdbc.rowlock;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;

import io.distributedlock.jdbc.EnabledIfMySqlRuns;
import io.distributedlock.jdbc.TestDatabases;

@Tag("matrix")
@EnabledIfMySqlRuns
class MySqlRowLockContractTests extends AbstractRowLockContractTests {

	private static final DataSource DATABASE = TestDatabases.withTable(TestDatabases.mySql());

	@Override
	public RowLockFixture createRowLocks() {
		return new RowLockFixture(DATABASE);
	}

}
