package io.distributedlock.redis;

import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

class RedisLettuceLockProviderContractTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return RedisFixture.standalone(TestClients::lettuce);
	}

}
