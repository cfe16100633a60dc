package io.distributedlock.redis.check;

import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.redis.RedisLockProvider;
import io.distributedlock.redis.RedisProcesses;
import io.distributedlock.redis.RedisReplicaTests;
import io.distributedlock.redis.RedisRights;
import io.distributedlock.redis.TestClients;
import io.distributedlock.redis.TestRedis;
import io.distributedlock.redis.script.RedisLayout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Tests of the check at start; {@link RedisReplicaTests} shows that a replica is refused.
 */
@ExtendWith(OutputCaptureExtension.class)
class StartCheckTests {

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	@ParameterizedTest
	@ValueSource(strings = { "5.0.14", "6.0.20", "6.1.242" })
	void oldServerIsRefused(String version) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(
				() -> info("# Server\r\nredis_version:" + version + "\r\nredis_mode:x").requireSuitable("The server x"))
			.withMessageContaining("The server x has version ")
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_TOO_OLD));
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis_version:6.2.0", "redis_version:7.2.4\r\nvalkey_version:8.0.1",
			"redis_version:10.0.0", "" })
	void newServerOrUnknownVersionIsAccepted(String text) {
		assertThatNoException().isThrownBy(() -> info(text).requireSuitable("The server x"));
	}

	@Test
	void serverThatIsNotTheOnlyOneToAcceptWritesIsRefused() {
		String text = "redis_version:6.3.4\r\nrole:active-replica\r\nmaster_host:other";
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> info(text).requireSuitable("The server x"))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_UNSUITABLE))
			.withMessageContaining("The server x is an active replica");
		assertThatNoException()
			.isThrownBy(() -> info("redis_version:6.3.4\r\nrole:master").requireSuitable("The server x"));
	}

	@Test
	void evictionIsWarnedOfUnlessThePolicyIsNoeviction(CapturedOutput output) {
		info("maxmemory_policy:noeviction").warnOfEviction("The server");
		assertThat(output).doesNotContain("maxmemory-policy");
		info("maxmemory_policy:volatile-ttl").warnOfEviction("The server");
		assertThat(output).contains("The server evicts").contains("maxmemory-policy is 'volatile-ttl'");
	}

	@Test
	void checkSucceedsWithoutTheRightToReadInfo() {
		try (Jedis admin = TestRedis.admin()) {
			RedisRights.grant(admin, RedisProcesses.PREFIX, RedisRights.SENT, RedisRights.IN_SCRIPTS,
					RedisRights.CONNECTION);
			RedisLockProvider provider = this.processes
				.provider(TestClients.lettuce(RedisRights.login(TestRedis.standalone(TestRedis.port()))));
			assertThatNoException().isThrownBy(() -> provider.check(RedisProcesses.TIMEOUT));
		}
	}

	@Test
	void lowerFormatIsRaisedSoThatOlderVersionsRefuse() {
		try (Jedis admin = TestRedis.emptied()) {
			byte[] format = RedisProcesses.LAYOUT.format();
			admin.set(format, RedisLayout.bytes("0"));
			RedisLockProvider provider = this.processes
				.provider(TestClients.lettuce(TestRedis.standalone(TestRedis.port())));
			assertThatNoException().isThrownBy(() -> provider.check(RedisProcesses.TIMEOUT));
			assertThat(admin.get(format)).asString(StandardCharsets.UTF_8).isEqualTo(RedisLayout.FORMAT.text());
		}
	}

	private static ServerInfo info(String text) {
		return new ServerInfo(1, text);
	}

}
