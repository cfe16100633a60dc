package io.distributedlock.redis;

import org.junit.jupiter.api.Tag;

import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

@Tag("full")
class RedisClusterLettuceLockProviderContractTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return RedisFixture.cluster(TestClients::lettuce);
	}

}
