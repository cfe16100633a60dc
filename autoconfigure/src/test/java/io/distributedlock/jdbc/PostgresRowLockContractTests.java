package io.distributedlock.jdbc;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;

@Tag("matrix")
class PostgresRowLockContractTests extends AbstractRowLockContractTests {

	private static final DataSource DATABASE = TestDatabases.withTable(TestDatabases.postgres());

	@Override
	RowLockFixture createRowLocks() {
		return new RowLockFixture(DATABASE);
	}

}
