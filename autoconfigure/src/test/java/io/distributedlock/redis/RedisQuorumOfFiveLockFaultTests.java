package io.distributedlock.redis;

import org.junit.jupiter.api.Tag;

import io.distributedlock.redis.quorum.QuorumServers;
import io.distributedlock.redis.quorum.RedisQuorumFixture;
import io.distributedlock.testkit.LockProviderFixture;

/** Fault tests on a quorum of five servers, of which two are down throughout. */
@Tag("matrix")
class RedisQuorumOfFiveLockFaultTests extends RedisQuorumOfThreeLockFaultTests {

	@Override
	protected LockProviderFixture createFixture() {
		return new RedisQuorumFixture(QuorumServers.threeOfFive());
	}

}
