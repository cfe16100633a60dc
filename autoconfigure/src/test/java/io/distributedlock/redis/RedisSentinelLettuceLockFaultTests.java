package io.distributedlock.redis;

import io.distributedlock.support.LockProviderFaultContract;
import io.distributedlock.support.LockProviderFixture;

class RedisSentinelLettuceLockFaultTests extends LockProviderFaultContract {

	@Override
	protected LockProviderFixture createFixture() {
		return RedisFixture.sentinels(TestClients::lettuce);
	}

}
