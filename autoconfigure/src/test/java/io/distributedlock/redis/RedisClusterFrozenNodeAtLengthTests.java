package io.distributedlock.redis;

import java.time.Duration;

import io.distributedlock.testkit.Soak;

/** Freezes a master for longer than a build has time for. */
@Soak
class RedisClusterFrozenNodeAtLengthTests extends RedisClusterFrozenNodeTests {

	@Override
	Duration lease() {
		return Duration.ofMillis(600);
	}

	@Override
	Duration duration() {
		return Duration.ofMinutes(1);
	}

}
