package io.distributedlock.redis;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import io.distributedlock.testkit.LockProviderFaultContract;
import io.distributedlock.testkit.LockProviderFixture;

/**
 * Each test has a prefix and a user of its own, so that tests which do not disturb the
 * servers run concurrently.
 */
@Tag("matrix")
@Execution(ExecutionMode.CONCURRENT)
class RedisClusterLettuceLockFaultTests extends LockProviderFaultContract {

	@Override
	protected LockProviderFixture createFixture() {
		return RedisFixture.cluster(TestClients::lettuce);
	}

}
