package io.distributedlock.jdbc;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;

@Tag("matrix")
class H2RowLockContractTests extends AbstractRowLockContractTests {

	private static final DataSource DATABASE = TestDatabases.withTable(TestDatabases.h2());

	@Override
	RowLockFixture createRowLocks() {
		return new RowLockFixture(DATABASE);
	}

}
