package io.distributedlock.redis;

import io.distributedlock.support.LockProviderContract;
import io.distributedlock.support.LockProviderFixture;

class RedisSentinelJedisLockProviderContractTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return RedisFixture.sentinels(TestClients::jedis);
	}

}
