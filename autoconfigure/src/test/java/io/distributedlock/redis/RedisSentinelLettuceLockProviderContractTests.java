package io.distributedlock.redis;

import org.junit.jupiter.api.Tag;

import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

@Tag("matrix")
class RedisSentinelLettuceLockProviderContractTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return RedisFixture.sentinels(TestClients::lettuce);
	}

}
