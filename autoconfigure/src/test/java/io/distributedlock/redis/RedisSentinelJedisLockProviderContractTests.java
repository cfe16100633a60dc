package io.distributedlock.redis;

import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

class RedisSentinelJedisLockProviderContractTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return RedisFixture.sentinels(TestClients::jedis);
	}

}
