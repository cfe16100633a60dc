package io.distributedlock.jdbc;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;

import io.distributedlock.jdbc.rowlock.AbstractRowLockContractTests;
import io.distributedlock.jdbc.rowlock.RowLockFixture;

@Tag("matrix")
class H2RowLockContractTests extends AbstractRowLockContractTests {

	private static final DataSource DATABASE = TestDatabases.withTable(TestDatabases.h2());

	@Override
	public RowLockFixture createRowLocks() {
		return new RowLockFixture(DATABASE);
	}

}
