package io.distributedlock.redis;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.ReplicaRequirement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class RedisLockSettingsTests {

	private static final Duration TIMEOUT = RedisLockSettings.DEFAULT_REPLICA_TIMEOUT;

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "{shop", "shop}" })
	void blankPrefixOrBracesAreRefused(String prefix) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> RedisLockSettings.defaults(prefix))
			.withMessageContaining("key prefix");
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 101 })
	void numberOfReplicasOutOfRangeIsRefused(int replicas) {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> new RedisLockSettings("shop", replicas, TIMEOUT))
			.withMessageContaining("distributed-lock.redis.min-replicas is " + replicas);
	}

	@ParameterizedTest
	@ValueSource(strings = { "PT0S", "PT0.0009S", "PT1H0.001S" })
	void replicaTimeoutOutOfRangeIsRefused(Duration timeout) {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> new RedisLockSettings("shop", 1, timeout))
			.withMessageContaining("distributed-lock.redis.replica-timeout");
	}

	@Test
	void defaultsRequireNoReplica() {
		assertThat(RedisLockSettings.defaults("shop").replicaRequirement().isPresent()).isFalse();
		assertThat(new RedisLockSettings("shop", 1, TIMEOUT).replicaRequirement().isPresent()).isTrue();
	}

	@Test
	void waitForReplicasEndsAtItsTimeoutOrTheDeadline() {
		ReplicaRequirement requirement = new ReplicaRequirement(1, TIMEOUT);
		assertThat(requirement.timeoutMillis(Deadline.after(Duration.ofHours(1)))).isEqualTo(TIMEOUT.toMillis());
		assertThat(requirement.timeoutMillis(Deadline.after(Duration.ofMillis(200)))).isBetween(1L, 200L);
		assertThat(requirement.timeoutMillis(Deadline.now())).isEqualTo(1);
	}

	@Test
	void replicasCannotAcknowledgeThroughTwemproxy() {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> new RedisLockSettings("shop", 1, TIMEOUT, true))
			.withMessageContaining("min-replicas")
			.withMessageContaining("distributed-lock.redis.twemproxy is true");
		assertThat(new RedisLockSettings("shop", 0, TIMEOUT, true).behindTwemproxy()).isTrue();
	}

}
