package io.distributedlock.redis;

import java.util.List;
import java.util.function.Function;

import org.assertj.core.api.ThrowableAssert;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.redis.script.ErrorReply;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.RedisLockKeys;
import io.distributedlock.redis.script.Script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * Tests of the errors that a server of one version replies.
 */
abstract class AbstractRedisErrorReplyTests {

	static final LockKey KEY = LockKey.of("orders", "42");

	static final LockKey OTHER = LockKey.of("orders", "43");

	@RegisterExtension
	final RedisProcesses processes = new RedisProcesses();

	final RedisServer server;

	final Jedis admin;

	AbstractRedisErrorReplyTests(RedisServer server) {
		this.server = server;
		this.admin = this.processes.closing(server.admin());
		this.admin.flushAll();
	}

	final RedisConnectionFactory connect(Function<RedisConfiguration, RedisConnectionFactory> client) {
		return client.apply(TestRedis.standalone(this.server.port()));
	}

	static LockProviderException failure(RedisLockProvider provider, LockKey key) {
		LockProviderException[] failure = new LockProviderException[1];
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> RedisProcesses.attempt(provider, key))
			.satisfies((ex) -> failure[0] = ex);
		return failure[0];
	}

	/** Asserts that each step is refused, and that no lock was granted. */
	private static void assertRefusesAll(RedisLockProvider provider, LockGrant held, String code, LockError error) {
		assertThat(failure(provider, OTHER)).hasMessageContaining(code).satisfies((ex) -> {
			assertThat(ex.error()).isEqualTo(error);
			assertThat(ex.isEffectUnknown()).isFalse();
		});
		try {
			assertThat(RedisProcesses.renew(provider, held)).isEqualTo(RenewalOutcome.UNKNOWN);
		}
		catch (LockProviderException ex) {
			assertThat(ex).hasMessageContaining(code);
		}
		assertThat(RedisProcesses.release(provider, held)).isEqualTo(ReleaseOutcome.UNKNOWN);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void readOnlyServerRefusesAndHeldLocksRemain(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider provider = this.processes.provider(connect(client));
		LockGrant held = RedisProcesses.acquire(provider, KEY);
		this.admin.replicaof("127.0.0.1", 1);
		try {
			assertRefusesAll(provider, held, "READONLY", LockError.WRITES_REFUSED);
		}
		finally {
			this.admin.replicaofNoOne();
		}
		assertThat(RedisProcesses.renew(provider, held)).isEqualTo(RenewalOutcome.RENEWED);
		assertThat(RedisProcesses.release(provider, held)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@Test
	void renewalByAReplicaEndsWithItsError() {
		byte[] lock = RedisProcesses.LAYOUT.lock(KEY);
		String owner = OwnerId.random().text();
		this.admin.set(lock, RedisLayout.bytes(owner + "H"));
		this.admin.replicaof("127.0.0.1", 1);
		try {
			assertThat(reply(() -> this.admin.eval(Script.RENEW.text(), 1, lock, RedisLayout.bytes(owner),
					RedisLayout.bytes("1000")))
				.code()).isEqualTo("READONLY");
		}
		finally {
			this.admin.replicaofNoOne();
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void serverBusyWithAScriptRefusesAndHeldLocksRemain(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) throws Exception {
		RedisLockProvider provider = this.processes.provider(connect(client));
		LockGrant held = RedisProcesses.acquire(provider, KEY);
		RedisProcesses.renew(provider, held);
		this.admin.configSet("lua-time-limit", "20");
		Thread looping = new Thread(() -> {
			try (Jedis other = this.server.admin()) {
				assertThatExceptionOfType(JedisDataException.class).isThrownBy(() -> other.eval("while true do end"));
			}
		});
		looping.start();
		try {
			await().until(() -> isBusy(this.admin));
			assertRefusesAll(provider, held, "BUSY", LockError.STORE_FAILED);
		}
		finally {
			this.admin.scriptKill();
			looping.join();
			this.admin.configSet("lua-time-limit", "5000");
		}
		assertThat(RedisProcesses.renew(provider, held)).isEqualTo(RenewalOutcome.RENEWED);
		assertThat(RedisProcesses.release(provider, held)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	private static boolean isBusy(Jedis admin) {
		try {
			admin.ping();
			return false;
		}
		catch (JedisDataException ex) {
			return ex.getMessage().startsWith("BUSY");
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void fullMemoryRefusesGrantsAlone(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider provider = this.processes.provider(connect(client));
		LockGrant held = RedisProcesses.acquire(provider, KEY);
		this.admin.configSet("maxmemory", "1");
		try {
			LockProviderException refused = failure(provider, OTHER);
			assertThat(refused).hasMessageContaining("OOM");
			assertThat(refused.isEffectUnknown()).isFalse();
			assertThat(RedisProcesses.enqueue(RedisProcesses.enter(provider, KEY)))
				.isInstanceOf(AttemptResult.Busy.class);
			assertThat(RedisProcesses.renew(provider, held)).isEqualTo(RenewalOutcome.RENEWED);
			assertThat(RedisProcesses.release(provider, held)).isEqualTo(ReleaseOutcome.RELEASED);
		}
		finally {
			this.admin.configSet("maxmemory", "0");
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void keyOfAnotherTypeIsAFailureAndRemains(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider provider = this.processes.provider(connect(client));
		RedisLockKeys keys = RedisProcesses.LAYOUT.keys(KEY);
		for (byte[] key : new byte[][] { keys.lock(), keys.lastOrder() }) {
			this.admin.flushAll();
			this.admin.rpush(key, RedisLayout.bytes("not ours"));
			assertThat(failure(provider, KEY)).hasMessageContaining("WRONGTYPE");
			assertThat(this.admin.type(key)).isEqualTo("list");
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void valueOfAnotherApplicationIsBusyAndRemains(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider provider = this.processes.provider(connect(client));
		byte[] lock = RedisProcesses.LAYOUT.keys(KEY).lock();
		String owner = OwnerId.random().text();
		for (String foreign : List.of("", "not ours", owner + "X and more", owner + "H")) {
			this.admin.set(lock, RedisLayout.bytes(foreign));
			assertThat(RedisProcesses.attempt(provider, KEY)).isInstanceOf(AttemptResult.Busy.class);
			assertThat(this.admin.get(lock)).isEqualTo(RedisLayout.bytes(foreign));
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void rightThatWasTakenAwayIsNotPermitted(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		for (String right : new String[] { "-evalsha", "-set", "-zadd", "-time", "resetkeys" }) {
			RedisRights.grant(this.admin, RedisProcesses.PREFIX, RedisRights.SENT, RedisRights.IN_SCRIPTS,
					RedisRights.CONNECTION);
			RedisLockProvider provider = this.processes
				.provider(client.apply(RedisRights.login(TestRedis.standalone(this.server.port()))));
			provider.check(RedisProcesses.TIMEOUT);
			this.admin.aclSetUser(RedisRights.USER, right);
			assertThat(failure(provider, KEY).error()).as(right).isEqualTo(LockError.NOT_PERMITTED);
			this.admin.flushAll();
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void unknownScriptIsSentByItsText(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider provider = this.processes.provider(connect(client));
		LockGrant held = RedisProcesses.acquire(provider, KEY);
		this.admin.scriptFlush();
		assertThat(RedisProcesses.renew(provider, held)).isEqualTo(RenewalOutcome.RENEWED);
		assertThat(RedisProcesses.release(provider, held)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void repliesToCommandsHaveTheirCodes(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisConnection connection = connection(client);
		this.admin.rpush("list", "not ours");
		assertThat(reply(() -> connection.stringCommands().get(RedisLayout.bytes("list"))).code())
			.isEqualTo("WRONGTYPE");
		assertThat(reply(() -> connection.scriptingCommands().evalSha("0".repeat(40), ReturnType.INTEGER, 0)).code())
			.isEqualTo("NOSCRIPT");
		ErrorReply unknown = reply(() -> connection.execute("NOSUCH", RedisLayout.bytes("a READONLY key")));
		assertThat(unknown.code()).isEqualTo("ERR");
		assertThat(unknown.text()).contains("READONLY");
		assertThat(unknown.isDenial()).isTrue();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void repliesToScriptsHaveTheCodesOfTheirCommands(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisConnection connection = connection(client);
		this.admin.rpush("list", "not ours");
		assertThat(calling(connection, "'GET', 'list'")).isEqualTo("WRONGTYPE");
		this.admin.replicaof("127.0.0.1", 1);
		try {
			assertThat(calling(connection, "'SET', 'k', 'OOM v'")).isEqualTo("READONLY");
		}
		finally {
			this.admin.replicaofNoOne();
		}
		this.admin.configSet("min-replicas-to-write", "3");
		try {
			assertThat(calling(connection, "'SET', 'k', 'OOM v'")).isEqualTo("NOREPLICAS");
		}
		finally {
			this.admin.configSet("min-replicas-to-write", "0");
		}
		assertThat(reply(connection, "return redis.call('NOSUCH', 'OOM v')").isDenial()).isTrue();
		ErrorReply hostile = reply(connection, "error('the key: READONLY of a lock')");
		assertThat(hostile.code()).isNotEqualTo("READONLY");
		assertThat(hostile.isDenial()).isFalse();
	}

	/** Calls a command in both ways of scripts, and returns the code of its error. */
	private static @Nullable String calling(RedisConnection connection, String command) {
		String code = reply(connection, "local a = 1\nreturn redis.call(" + command + ")").code();
		assertThat(reply(connection, "return redis.pcall(" + command + ")").code()).isEqualTo(code);
		return code;
	}

	private static ErrorReply reply(RedisConnection connection, String script) {
		return reply(() -> connection.scriptingCommands().eval(RedisLayout.bytes(script), ReturnType.VALUE, 0));
	}

	private static ErrorReply reply(ThrowableAssert.ThrowingCallable call) {
		return ErrorReply.of(catchThrowable(call));
	}

	private RedisConnection connection(Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisConnectionFactory factory = connect(client);
		this.processes.closing(() -> ((DisposableBean) factory).destroy());
		return this.processes.closing(factory.getConnection());
	}

}
