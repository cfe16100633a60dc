package io.distributedlock.redis;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import io.distributedlock.testkit.LockProviderFaultContract;
import io.distributedlock.testkit.LockProviderFixture;

/**
 * Each test has a prefix and a user of its own, so that those which leave the servers
 * alone run beside each other.
 */
@Tag("matrix")
@Execution(ExecutionMode.CONCURRENT)
class RedisOldestLettuceLockFaultTests extends LockProviderFaultContract {

	@Override
	protected LockProviderFixture createFixture() {
		return RedisFixture.oldest(TestClients::lettuce);
	}

}
