package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** Freezes a master for longer than a build has time for. */
@Tag("soak")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
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
