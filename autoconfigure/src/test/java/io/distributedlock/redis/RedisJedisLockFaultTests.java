package io.distributedlock.redis;

import io.distributedlock.support.LockProviderFaultContract;
import io.distributedlock.support.LockProviderFixture;

class RedisJedisLockFaultTests extends LockProviderFaultContract {

	@Override
	protected LockProviderFixture createFixture() {
		return RedisFixture.standalone(TestClients::jedis);
	}

}
