package io.distributedlock.jdbc;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import io.distributedlock.jdbc.rowlock.RowLockFixture;

/**
 * Each test has a database of its own, so that those which leave the server alone run
 * beside each other.
 */
@Tag("matrix")
@Execution(ExecutionMode.CONCURRENT)
class MariaDbRowLockFaultTests extends AbstractRowLockFaultTests {

	@Override
	RowLockFixture createRowLocks() {
		return new RowLockFixture(TestDatabases.withTable(TestDatabases.mariaDb()), MySqlFaults::new);
	}

}
