package io.distributedlock.redis;

import io.distributedlock.support.LockProviderContract;
import io.distributedlock.support.LockProviderFixture;

class RedisLettuceLockProviderContractTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return RedisFixture.standalone(TestClients::lettuce);
	}

}
