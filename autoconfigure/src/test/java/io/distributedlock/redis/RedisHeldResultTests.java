package io.distributedlock.redis;

import io.distributedlock.interceptor.HeldResultContract;
import io.distributedlock.testkit.LockProviderFixture;

class RedisHeldResultTests extends HeldResultContract {

	@Override
	protected LockProviderFixture createFixture() {
		return RedisFixture.standalone(TestClients::lettuce);
	}

}
