package io.distributedlock.redis;

import io.distributedlock.support.LockProviderFaultContract;
import io.distributedlock.support.LockProviderFixture;

class RedisClusterJedisLockFaultTests extends LockProviderFaultContract {

	@Override
	protected LockProviderFixture createFixture() {
		return RedisFixture.cluster(TestClients::jedis);
	}

}
