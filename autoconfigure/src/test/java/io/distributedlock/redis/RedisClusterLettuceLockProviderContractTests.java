package io.distributedlock.redis;

import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

class RedisClusterLettuceLockProviderContractTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return RedisFixture.cluster(TestClients::lettuce);
	}

}
