package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.testkit.FrozenProcesses;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.WireFault;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of WAIT in the round trip of the script before it.
 */
class RedisReplicaRoundTripTests {

	private static final RedisLockSettings SETTINGS = new RedisLockSettings(RedisProcesses.PREFIX, 1,
			RedisProcesses.TIMEOUT);

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static RedisServer primary;

	private static RedisServer replica;

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	@BeforeAll
	static void start() {
		primary = new RedisServer("--repl-diskless-sync-delay", "0");
		replica = RedisServer.replicaOf(primary);
	}

	@AfterAll
	static void stop() {
		replica.close();
		primary.close();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void waitIsSentBeforeTheReplyOfTheScript(String name, Function<RedisConfiguration, RedisConnectionFactory> client)
			throws Exception {
		CommandStats stats = new CommandStats(this.processes.closing(primary.admin()));
		TcpProxy proxy = this.processes.closing(new TcpProxy(primary.address()));
		RedisLockProvider provider = this.processes.provider(client.apply(TestRedis.standalone(proxy.port())),
				SETTINGS);
		LockGrant first = RedisProcesses.acquire(provider, KEY);
		assertThat(RedisProcesses.renew(provider, first)).isEqualTo(RenewalOutcome.RENEWED);
		assertThat(RedisProcesses.release(provider, first)).isEqualTo(ReleaseOutcome.RELEASED);
		LockGrant grant = ((AttemptResult.Granted) inOneRoundTrip(proxy, stats,
				() -> RedisProcesses.attempt(provider, KEY)))
			.grant();
		assertThat(inOneRoundTrip(proxy, stats, () -> RedisProcesses.renew(provider, grant)))
			.isEqualTo(RenewalOutcome.RENEWED);
		assertThat(RedisProcesses.release(provider, grant)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	/** Holds all replies back until the server has received both commands. */
	private static <T> T inOneRoundTrip(TcpProxy proxy, CommandStats stats, Supplier<T> call) throws Exception {
		stats.reset();
		WireFault held = proxy.onReply((packet) -> true, WireFault.Effect.HOLD);
		CompletableFuture<T> result = new CompletableFuture<>();
		new Thread(() -> result.completeAsync(call, Runnable::run)).start();
		try {
			await().until(() -> stats.calls().containsKey("wait") && held.hits() > 0);
			assertThat(result).isNotDone();
		}
		finally {
			held.close();
		}
		T value = result.get(1, TimeUnit.MINUTES);
		assertThat(stats.calls()).containsEntry("evalsha", 1L).containsEntry("wait", 1L);
		return value;
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void unknownScriptIsSentByItsTextWithAnotherWait(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		Jedis admin = this.processes.closing(primary.admin());
		CommandStats stats = new CommandStats(admin);
		RedisLockProvider provider = this.processes.provider(client.apply(TestRedis.standalone(primary.port())),
				SETTINGS);
		RedisProcesses.release(provider, RedisProcesses.acquire(provider, KEY));
		admin.scriptFlush();
		stats.reset();
		LockGrant grant = RedisProcesses.acquire(provider, KEY);
		assertThat(stats.calls()).containsEntry("evalsha", 1L).containsEntry("eval", 1L).containsEntry("wait", 2L);
		assertThat(RedisProcesses.release(provider, grant)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	/** The entry in the wait queue is a write that no replica acknowledges. */
	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void busyAttemptDoesNotAwaitReplicas(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider holder = this.processes.provider(client.apply(TestRedis.standalone(primary.port())));
		RedisLockProvider provider = this.processes.provider(client.apply(TestRedis.standalone(primary.port())),
				new RedisLockSettings(RedisProcesses.PREFIX, 1, Duration.ofMinutes(1)));
		LockGrant grant = RedisProcesses.acquire(holder, KEY);
		LockContender contender = RedisProcesses.enter(provider, KEY);
		await().until(() -> RedisProcesses.enqueue(contender) instanceof AttemptResult.Busy
				&& provider.subscription().isActive());
		try (FrozenProcesses frozen = FrozenProcesses.freeze(replica.handle())) {
			assertThat(RedisProcesses.enqueue(contender)).isInstanceOf(AttemptResult.Busy.class);
		}
		assertThat(RedisProcesses.release(holder, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		resultOf(contender.withdraw(RedisProcesses.TIMEOUT), RedisProcesses.TIMEOUT);
	}

	/** Else each busy attempt would last as long as WAIT does. */
	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void onlyGrantsAwaitReplicasWhileTheseAreLate(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		CommandStats stats = new CommandStats(this.processes.closing(primary.admin()));
		RedisLockProvider provider = this.processes.provider(client.apply(TestRedis.standalone(primary.port())),
				new RedisLockSettings(RedisProcesses.PREFIX, 1, Duration.ofMillis(500)));
		RedisLockProvider holder = this.processes.provider(client.apply(TestRedis.standalone(primary.port())));
		LockGrant grant = RedisProcesses.acquire(holder, KEY);
		// The first attempt checks the server too.
		assertThat(RedisProcesses.attempt(provider, KEY)).isInstanceOf(AttemptResult.Busy.class);
		try (FrozenProcesses frozen = FrozenProcesses.freeze(replica.handle())) {
			assertThat(RedisProcesses.renew(provider, grant)).isEqualTo(RenewalOutcome.UNKNOWN);
			stats.reset();
			assertThat(RedisProcesses.attempt(provider, KEY)).isInstanceOf(AttemptResult.Busy.class);
			assertThat(stats.calls()).containsEntry("evalsha", 1L).doesNotContainKey("wait");
			assertThat(RedisProcesses.renew(provider, grant)).isEqualTo(RenewalOutcome.UNKNOWN);
			assertThat(stats.calls()).containsEntry("wait", 1L);
		}
		await().until(() -> RedisProcesses.renew(provider, grant) == RenewalOutcome.RENEWED);
		stats.reset();
		assertThat(RedisProcesses.attempt(provider, KEY)).isInstanceOf(AttemptResult.Busy.class);
		assertThat(stats.calls()).containsEntry("wait", 1L);
		assertThat(RedisProcesses.release(provider, grant)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void deniedWaitFailsAGrantButNotABusyAttempt(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		Jedis admin = this.processes.closing(primary.admin());
		admin.aclSetUser("without-wait", "on", ">secret", "~*", "&*", "+@all", "-wait");
		RedisLockProvider provider = this.processes
			.provider(client.apply(TestRedis.standalone(primary.port(), "without-wait", "secret")), SETTINGS);
		RedisLockProvider other = this.processes.provider(client.apply(TestRedis.standalone(primary.port())));
		LockGrant grant = RedisProcesses.acquire(other, KEY);
		assertThat(RedisProcesses.attempt(provider, KEY)).isInstanceOf(AttemptResult.Busy.class);
		assertThat(RedisProcesses.release(other, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> RedisProcesses.attempt(provider, KEY))
			.satisfies((ex) -> {
				assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED);
				assertThat(ex.isEffectUnknown()).isTrue();
			});
		admin.del(RedisProcesses.LAYOUT.lock(KEY));
		admin.aclDelUser("without-wait");
	}

}
