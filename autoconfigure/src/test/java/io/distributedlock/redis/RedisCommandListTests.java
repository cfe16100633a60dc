package io.distributedlock.redis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Tests that the commands of {@code docs/redis.md} are those that the contract tests run
 * with, whose user has no other right, and that the start names the first one of them
 * that a server refuses.
 */
class RedisCommandListTests {

	private static final Pattern ROW = Pattern.compile("^\\| `([A-Z]+)` \\| (yes|no)", Pattern.MULTILINE);

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private static List<MatchResult> rows() {
		try {
			String section = Files.readString(Path.of("..", "docs", "redis.md"))
				.split("\n## What a server must run\n")[1].split("\n## ")[0];
			return ROW.matcher(section).results().toList();
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Whether the server is the oldest one, a command, and whether it is needed. */
	static Stream<Arguments> refusals() {
		return Stream.of(false, true)
			.flatMap((oldest) -> rows().stream()
				.filter((row) -> !row.group(1).equals("WAIT"))
				.map((row) -> Arguments.of(oldest, row.group(1), row.group(2).equals("yes"))));
	}

	@Test
	void documentedCommandsAreThoseOfTheContractTests() {
		assertThat(rows()).extracting((row) -> "+" + row.group(1).toLowerCase(Locale.ROOT))
			.containsExactlyInAnyOrderElementsOf(Stream
				.of(RedisRights.SENT, RedisRights.IN_SCRIPTS, RedisRights.NOTIFICATIONS, RedisRights.CHECK,
						RedisRights.REPLICAS)
				.flatMap(List::stream)
				.toList());
	}

	@ParameterizedTest
	@MethodSource("refusals")
	void firstRefusedCommandIsNamedAtStart(boolean oldest, String command, boolean needed) {
		RedisServer server = oldest ? TestRedis.oldest() : TestRedis.server();
		try (Jedis admin = server.admin()) {
			RedisRights.grant(admin, RedisProcesses.PREFIX, RedisRights.SENT, RedisRights.IN_SCRIPTS,
					RedisRights.NOTIFICATIONS, RedisRights.CHECK, RedisRights.CONNECTION,
					List.of("-" + command.toLowerCase(Locale.ROOT)));
			admin.scriptFlush();
			admin.del(RedisProcesses.LAYOUT.format());
			RedisLockProvider provider = this.processes
				.provider(TestClients.jedis(RedisRights.login(TestRedis.standalone(server.port()))));
			if (!needed) {
				assertThatNoException().isThrownBy(() -> provider.check(RedisProcesses.TIMEOUT));
			}
			else if (command.startsWith("EVAL")) {
				assertThatExceptionOfType(LockProviderException.class)
					.isThrownBy(() -> provider.check(RedisProcesses.TIMEOUT))
					.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED))
					.withMessageContaining("'" + command.toLowerCase(Locale.ROOT) + "'");
			}
			else {
				assertThatExceptionOfType(LockConfigurationException.class)
					.isThrownBy(() -> provider.check(RedisProcesses.TIMEOUT))
					.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED))
					.withMessageContaining("refuses the command " + command + ",");
			}
			assertThat(admin.keys("{" + RedisProcesses.PREFIX + ":b00}:none*")).isEmpty();
		}
	}

	/** The users of a node of a cluster are its own. */
	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void commandThatOnePrimaryRefusesIsNamedAtStart(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		TestCluster cluster = TestCluster.shared();
		for (RedisServer refusing : cluster.masters()) {
			for (RedisServer master : cluster.masters()) {
				try (Jedis admin = master.admin()) {
					RedisRights.grant(admin, RedisProcesses.PREFIX, RedisRights.SENT, RedisRights.IN_SCRIPTS,
							RedisRights.NOTIFICATIONS, RedisRights.CHECK, RedisRights.CONNECTION, RedisRights.CLUSTER,
							(master == refusing) ? List.of("-zadd") : List.of());
				}
			}
			RedisLockProvider provider = this.processes
				.provider(client.apply(RedisRights.login(cluster.configuration())));
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> provider.check(RedisProcesses.TIMEOUT))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED))
				.withMessageContaining("refuses the command ZADD,");
		}
	}

}
