package io.distributedlock.redis;

import io.distributedlock.support.LockProviderContract;
import io.distributedlock.support.LockProviderFixture;

class RedisClusterLettuceLockProviderContractTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return RedisFixture.cluster(TestClients::lettuce);
	}

}
