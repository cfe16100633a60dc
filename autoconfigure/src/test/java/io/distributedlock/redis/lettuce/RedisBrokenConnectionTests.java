package io.distributedlock.redis.lettuce;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.resource.Delay;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.redis.RedisLockProvider;
import io.distributedlock.redis.RedisProcesses;
import io.distributedlock.redis.RedisServer;
import io.distributedlock.redis.TestClients;
import io.distributedlock.redis.TestRedis;
import io.distributedlock.redis.script.Script;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.WireFault.Effect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of the connections that replace a broken shared connection of Lettuce.
 */
class RedisBrokenConnectionTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final LockRequest REQUEST = LockRequest.of(KEY).withWaitTime(Duration.ZERO);

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private RedisServer server;

	private Jedis admin;

	@BeforeEach
	void start() {
		this.server = this.processes.closing(new RedisServer());
		this.admin = this.processes.closing(this.server.admin());
	}

	@Test
	void connectionIsKeptOnlyWhileItIsNeeded() {
		LettuceConnectionFactory factory = TestRedis.lettuce(this.server.port());
		this.processes.closing(factory::destroy);
		int before = connections();
		boolean[] needed = { true };
		LettuceConnectionPool pool = this.processes.closing(new LettuceConnectionPool(factory, false, () -> needed[0]));
		pool.use(null, (connection) -> List.of());
		pool.use(null, (connection) -> List.of());
		assertThat(connections()).isEqualTo(before + 1);
		needed[0] = false;
		pool.use(null, (connection) -> List.of());
		await().atMost(Duration.ofMinutes(1)).until(() -> connections() == before);
	}

	@Test
	void connectionsOfShortBreaksAreClosed() {
		LockTemplate locks = this.processes.locks(TestRedis.lettuce(this.server.port()));
		acquireAndRelease(locks);
		int before = connections();
		for (int round = 0; round < 10; round++) {
			killConnections();
			acquireAndRelease(locks);
		}
		await().atMost(Duration.ofMinutes(1)).until(() -> connections() == before);
	}

	@Test
	void connectionThatRejectsCommandsIsNotUsed() {
		LockTemplate locks = this.processes.locks(rejecting());
		acquireAndRelease(locks);
		int before = connections();
		killConnections();
		acquireAndRelease(locks);
		int failures = 0;
		for (int call = 0; call < 5; call++) {
			try {
				locks.acquire(REQUEST).close();
			}
			catch (LockException ex) {
				failures++;
			}
		}
		assertThat(failures).as("calls that failed, of which a stall of this machine explains one")
			.isLessThanOrEqualTo(1);
		// The server may still list one that it has just ended. Two are kept if what a
		// stall has left unclear was released beside a call.
		await().atMost(Duration.ofMinutes(1))
			.untilAsserted(() -> assertThat(connections()).isBetween(before, before + 1));
	}

	/** Repeats what a broken connection, or a stall of this machine, has left unclear. */
	private static void acquireAndRelease(LockTemplate locks) {
		await().pollDelay(Duration.ZERO)
			.atMost(Duration.ofMinutes(1))
			.ignoreExceptionsInstanceOf(LockException.class)
			.until(() -> {
				locks.acquire(REQUEST).close();
				return true;
			});
	}

	/** What a client behind a wrapped factory sends again cannot be seen. */
	@Test
	void releaseThatAWrappedClientSendsAgainIsNoLoss() {
		TcpProxy proxy = this.processes.closing(new TcpProxy(this.server.address()));
		RedisLockProvider provider = this.processes.provider(TestClients.wrapped(TestRedis.lettuce(proxy.port())));
		RedisProcesses.release(provider, RedisProcesses.acquire(provider, KEY));
		LockGrant grant = RedisProcesses.acquire(provider, KEY);
		proxy
			.onReplyTo((packet) -> new String(packet, StandardCharsets.ISO_8859_1).contains(Script.RELEASE.digest()),
					Effect.HALF_CLOSE)
			.once();
		assertThat(RedisProcesses.release(provider, grant)).isEqualTo(ReleaseOutcome.GONE);
		assertThat(this.admin.exists(RedisProcesses.LAYOUT.lock(KEY))).isFalse();
	}

	/** A client that does not connect again during the test. */
	private LettuceConnectionFactory rejecting() {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", this.server.port()),
				LettuceClientConfiguration.builder()
					.clientResources(TestClients.resources()
						.mutate()
						.reconnectDelay(Delay.constant(Duration.ofHours(1)))
						.build())
					.clientOptions(
							ClientOptions.builder().disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS).build())
					.shutdownTimeout(Duration.ZERO)
					.shutdownQuietPeriod(Duration.ZERO)
					.build());
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	private void killConnections() {
		this.admin.clientKill(new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES));
	}

	private int connections() {
		return this.admin.clientList(ClientType.NORMAL).split("\n").length;
	}

}
