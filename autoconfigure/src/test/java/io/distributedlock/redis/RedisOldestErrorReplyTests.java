package io.distributedlock.redis;

import java.util.function.Function;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.redis.script.RedisLayout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests of the errors of the oldest version that locks support, whose scripts reply other
 * texts, and of the check at start.
 */
class RedisOldestErrorReplyTests extends AbstractRedisErrorReplyTests {

	RedisOldestErrorReplyTests() {
		super(TestRedis.oldest());
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void checkAcceptsTheVersionAndRefusesALaterFormat(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider provider = this.processes.provider(connect(client));
		assertThat(this.admin.info("server")).contains("redis_version:6.2.");
		provider.check(RedisProcesses.TIMEOUT);
		assertThat(this.admin.get(RedisProcesses.LAYOUT.format()))
			.isEqualTo(RedisLayout.bytes(RedisLayout.FORMAT.text()));
		this.admin.set(RedisProcesses.LAYOUT.format(), RedisLayout.bytes("99"));
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> provider.check(RedisProcesses.TIMEOUT))
			.withMessageContaining("99");
	}

}
