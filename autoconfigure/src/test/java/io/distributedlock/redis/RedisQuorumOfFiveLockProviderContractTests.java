package io.distributedlock.redis;

import org.junit.jupiter.api.Tag;

import io.distributedlock.redis.quorum.QuorumServers;
import io.distributedlock.redis.quorum.RedisQuorumFixture;
import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

/** Contract tests on a quorum of five servers. */
@Tag("matrix")
class RedisQuorumOfFiveLockProviderContractTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return new RedisQuorumFixture(QuorumServers.five());
	}

}
