package io.distributedlock.redis;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import io.distributedlock.testkit.LockProviderFaultContract;
import io.distributedlock.testkit.LockProviderFixture;

/**
 * Fault tests of shares: each lock is a permit of one.
 */
@Tag("full")
@Execution(ExecutionMode.CONCURRENT)
class RedisPermitLockFaultTests extends LockProviderFaultContract {

	@Override
	protected LockProviderFixture createFixture() {
		return RedisFixture.standalone(TestClients::lettuce).ofPermits();
	}

}
