package io.distributedlock.redis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.FieldSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisAccessControlException;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.redis.script.RedisLayout;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests that the user in {@code docs/redis.md} has the rights that locks need, and no
 * others.
 */
class RedisDocumentedRightsTests {

	private static final String RULE = "ACL SETUSER ";

	private static final String PREFIX = "shop";

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final LockKey KEY = LockKey.of("orders", "42");

	/** The name of the user, followed by the rules. */
	private static final List<String> documented = documented();

	/** Without PING, which Jedis sends only on connections that were idle for long. */
	private static final List<String> commands = documented.stream()
		.filter((rule) -> rule.startsWith("+") && !rule.equals("+ping"))
		.toList();

	private static RedisServer server;

	private static Jedis admin;

	@BeforeAll
	static void start() {
		server = new RedisServer();
		admin = new Jedis("127.0.0.1", server.port(), 10_000);
	}

	@AfterAll
	static void stop() {
		admin.close();
		server.close();
	}

	private static List<String> documented() {
		try (Stream<String> lines = Files.lines(Path.of("..", "docs", "redis.md"))) {
			return lines.filter((line) -> line.startsWith(RULE))
				.findFirst()
				.map((line) -> List.of(line.substring(RULE.length()).split(" ")))
				.orElseThrow();
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Creates the user without the given command. */
	private static RedisStandaloneConfiguration user(String without) {
		String name = documented.get(0);
		List<String> rules = new ArrayList<>(documented.subList(1, documented.size()));
		rules.remove(without);
		admin.aclDelUser(name);
		admin.aclSetUser(name, rules.toArray(String[]::new));
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration("127.0.0.1", server.port());
		configuration.setUsername(name);
		configuration
			.setPassword(rules.stream().filter((rule) -> rule.startsWith(">")).findFirst().orElseThrow().substring(1));
		return configuration;
	}

	@ParameterizedTest
	@EnumSource
	void allStepsAreAllowed(Client client) throws Exception {
		runAllSteps(client, user(""));
		assertThat(denied()).isEmpty();
	}

	@ParameterizedTest
	@FieldSource("commands")
	void everyCommandIsNeeded(String command) throws Exception {
		Throwable failure = catchThrowable(() -> runAllSteps(Client.JEDIS, user(command)));
		assertThat(denied()).as("after %s", failure).contains("command " + command.substring(1));
	}

	@Test
	void nothingElseIsAllowed() {
		admin.flushAll();
		RedisStandaloneConfiguration user = user("");
		try (Jedis jedis = new Jedis("127.0.0.1", server.port())) {
			jedis.auth(user.getUsername(), new String(user.getPassword().get()));
			assertThat(jedis.get("{shop:b05}:lock:orders:42")).isNull();
			for (String key : new String[] { "other", "{shops:b05}:lock:a", "{shop:b7}:lock:a", "shop:notify:a" }) {
				assertThatExceptionOfType(JedisAccessControlException.class).as(key).isThrownBy(() -> jedis.get(key));
			}
			assertThatExceptionOfType(JedisAccessControlException.class)
				.isThrownBy(() -> jedis.publish("orders", "message"));
			assertThatExceptionOfType(JedisAccessControlException.class).isThrownBy(() -> jedis.keys("*"));
			assertThatExceptionOfType(JedisAccessControlException.class).isThrownBy(jedis::flushAll);
		}
	}

	private static void runAllSteps(Client client, RedisStandaloneConfiguration user) throws Exception {
		admin.flushAll();
		admin.scriptFlush();
		admin.aclLogReset();
		RedisConnectionFactory connections = client.connect(user);
		RedisLockSettings settings = RedisLockSettings.defaults(PREFIX);
		try (RedisLockProvider holder = new RedisLockProvider(connections, settings);
				RedisLockProvider waiter = new RedisLockProvider(connections, settings)) {
			holder.check(TIMEOUT);
			acquireRenewAndRelease(holder);
			handOver(holder, waiter);
			acquireWithLastOrderAheadOfClock(holder);
		}
		finally {
			((DisposableBean) connections).destroy();
		}
	}

	private static void acquireRenewAndRelease(RedisLockProvider provider) {
		OwnerId owner = OwnerId.random();
		LockContender contender = provider.newContender(KEY, () -> {
		});
		LockGrant grant = granted(resultOf(contender.attempt(owner, LEASE, false, TIMEOUT)));
		assertThat(resultOf(contender.attempt(owner, LEASE, false, TIMEOUT))).isInstanceOf(AttemptResult.Granted.class);
		assertThat(resultOf(provider.renew(Map.of(grant, LEASE), TIMEOUT))).containsEntry(grant,
				RenewalOutcome.RENEWED);
		assertThat(resultOf(provider.release(KEY, owner, TIMEOUT))).isEqualTo(ReleaseOutcome.RELEASED);
	}

	private static void handOver(RedisLockProvider holder, RedisLockProvider waiter) throws InterruptedException {
		LockGrant held = granted(attempt(holder.newContender(KEY, () -> {
		})));
		Semaphore notified = new Semaphore(0);
		LockContender next = waiter.newContender(KEY, notified::release);
		assertThat(attempt(next)).isInstanceOf(AttemptResult.Busy.class);
		assertThat(waiter.subscription().isActive()).isTrue();
		// The start of the subscription has notified it too.
		notified.drainPermits();
		assertThat(resultOf(holder.release(KEY, held.owner(), TIMEOUT))).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(notified.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
		LockGrant grant = granted(attempt(next));
		LockContender late = holder.newContender(KEY, () -> {
		});
		assertThat(attempt(late)).isInstanceOf(AttemptResult.Busy.class);
		assertThat(resultOf(late.withdraw(TIMEOUT))).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(resultOf(waiter.release(KEY, grant.owner(), TIMEOUT))).isEqualTo(ReleaseOutcome.RELEASED);
	}

	private static void acquireWithLastOrderAheadOfClock(RedisLockProvider provider) {
		admin.zadd(new RedisLayout(PREFIX).keys(KEY).lastOrder(), 1L << 52,
				RedisLayout.bytes(RedisLayout.ORDER_MEMBER));
		assertThat(granted(attempt(provider.newContender(KEY, () -> {
		}))).order()).isEqualTo((1L << 52) + 1);
	}

	private static AttemptResult attempt(LockContender contender) {
		return resultOf(contender.attempt(OwnerId.random(), LEASE, true, TIMEOUT));
	}

	private static LockGrant granted(AttemptResult attempt) {
		assertThat(attempt).isInstanceOf(AttemptResult.Granted.class);
		return ((AttemptResult.Granted) attempt).grant();
	}

	/** Lists what the server denied the user, by its own log. */
	private static List<String> denied() {
		return admin.aclLog().stream().map((entry) -> entry.getReason() + " " + entry.getObject()).toList();
	}

	private enum Client {

		LETTUCE {

			@Override
			RedisConnectionFactory connect(RedisStandaloneConfiguration server) {
				LettuceConnectionFactory factory = new LettuceConnectionFactory(server);
				factory.afterPropertiesSet();
				factory.start();
				return factory;
			}

		},
		JEDIS {

			@Override
			RedisConnectionFactory connect(RedisStandaloneConfiguration server) {
				JedisConnectionFactory factory = new JedisConnectionFactory(server);
				factory.afterPropertiesSet();
				factory.start();
				return factory;
			}

		};

		abstract RedisConnectionFactory connect(RedisStandaloneConfiguration server);

	}

}
