package io.distributedlock.jdbc;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import io.distributedlock.testkit.LockProviderFaultContract;
import io.distributedlock.testkit.LockProviderFixture;

/**
 * Each test has a database of its own, so that tests without faults of the server run
 * concurrently.
 */
@Tag("matrix")
@Execution(ExecutionMode.CONCURRENT)
class H2ServerLockFaultTests extends LockProviderFaultContract {

	@Override
	protected LockProviderFixture createFixture() {
		return new JdbcFixture(TestDatabases.withTable(H2ServerProcess.shared().database()), H2Faults::new);
	}

}
