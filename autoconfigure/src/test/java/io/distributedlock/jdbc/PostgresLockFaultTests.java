package io.distributedlock.jdbc;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import io.distributedlock.testkit.LockProviderFaultContract;
import io.distributedlock.testkit.LockProviderFixture;

/**
 * Each test has a database of its own, so that those which leave the server alone run
 * beside each other.
 */
@Execution(ExecutionMode.CONCURRENT)
@Tag("full")
class PostgresLockFaultTests extends LockProviderFaultContract {

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcFixture(TestDatabases.withTable(TestDatabases.postgres()), PostgresFaults::new);
	}

}
