package io.distributedlock.redis;

import org.junit.jupiter.api.Tag;

import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

/** The contract over two servers behind Twemproxy. */
@Tag("matrix")
class TwemproxyLettuceLockProviderContractTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return RedisFixture.twemproxy(TestTwemproxy::lettuce);
	}

}
