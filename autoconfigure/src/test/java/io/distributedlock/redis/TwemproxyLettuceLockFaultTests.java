package io.distributedlock.redis;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import io.distributedlock.testkit.LockProviderFaultContract;
import io.distributedlock.testkit.LockProviderFixture;

/** The contract on faults over two servers behind Twemproxy. */
@Execution(ExecutionMode.CONCURRENT)
@Tag("matrix")
class TwemproxyLettuceLockFaultTests extends LockProviderFaultContract {

	@Override
	protected LockProviderFixture createFixture() {
		return RedisFixture.twemproxy(TestTwemproxy::lettuce);
	}

}
