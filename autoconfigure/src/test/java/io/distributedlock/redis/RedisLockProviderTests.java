package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.params.ClientKillParams;
import redis.clients.jedis.params.SetParams;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ProcessLabel;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.redis.lettuce.DisconnectCounter;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.RedisLockKeys;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.testkit.FrozenProcesses;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.TimeBounds;
import io.distributedlock.testkit.WireFault;
import io.distributedlock.testkit.WireFault.Effect;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of the provider on a standalone server, besides the contract.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("full")
class RedisLockProviderTests {

	private static final String PREFIX = "single";

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final LockKey KEY = LockKey.of("orders", "42");

	private final RedisLockKeys keys = new RedisLayout(PREFIX).keys(KEY);

	private final Jedis admin = TestRedis.admin();

	private final List<AutoCloseable> opened = new ArrayList<>();

	@BeforeEach
	void empty() {
		this.admin.flushAll();
	}

	@AfterEach
	void close() throws Exception {
		for (AutoCloseable closeable : this.opened) {
			closeable.close();
		}
		this.admin.close();
	}

	private RedisLockProvider process() {
		return process(TestRedis.lettuce(TestRedis.port()));
	}

	private RedisLockProvider process(RedisConnectionFactory factory) {
		RedisLockProvider provider = new RedisLockProvider(factory, RedisLockSettings.defaults(PREFIX));
		this.opened.add(provider);
		this.opened.add(() -> ((DisposableBean) factory).destroy());
		return provider;
	}

	private static LockContender enter(RedisLockProvider provider) {
		return provider.newContender(KEY, () -> {
		});
	}

	private static AttemptResult attempt(LockContender contender, boolean willWait) {
		return resultOf(contender.attempt(OwnerId.random(), LEASE, willWait, TIMEOUT), TIMEOUT);
	}

	private static LockGrant acquire(RedisLockProvider provider) {
		return granted(attempt(enter(provider), false));
	}

	private static Map<LockGrant, RenewalOutcome> renew(RedisLockProvider provider, LockGrant grant) {
		return resultOf(provider.renew(Map.of(grant, LEASE), TIMEOUT), TIMEOUT);
	}

	private static ReleaseOutcome release(RedisLockProvider provider, OwnerId owner) {
		return outcomeOf(provider.release(KEY, owner, TIMEOUT), TIMEOUT);
	}

	private static ReleaseOutcome release(RedisLockProvider provider, LockGrant grant) {
		return outcomeOf(provider.release(grant, TIMEOUT), TIMEOUT);
	}

	private static LockGrant granted(AttemptResult attempt) {
		assertThat(attempt).isInstanceOf(AttemptResult.Granted.class);
		return ((AttemptResult.Granted) attempt).grant();
	}

	private List<String> queue() {
		return LockValues.queue(this.admin, this.keys);
	}

	static Stream<Arguments> clients() {
		IntFunction<RedisConnectionFactory> lettuce = TestRedis::lettuce;
		IntFunction<RedisConnectionFactory> unshared = (port) -> {
			LettuceConnectionFactory factory = TestRedis.lettuce(port);
			factory.setShareNativeConnection(false);
			return factory;
		};
		IntFunction<RedisConnectionFactory> jedis = TestRedis::jedis;
		return Stream.of(Arguments.of("lettuce", lettuce), Arguments.of("lettuce, nothing shared", unshared),
				Arguments.of("jedis", jedis));
	}

	@Test
	void orderAheadOfTheClockRisesByOneAndStaysExact() {
		RedisLockProvider process = process();
		long last = (1L << 52) + 1;
		this.admin.zadd(this.keys.lastOrder(), last, RedisLayout.bytes(RedisLayout.ORDER_MEMBER));
		for (int round = 1; round < 5; round++) {
			LockGrant grant = acquire(process);
			assertThat(grant.order()).isEqualTo(last + round);
			release(process, grant.owner());
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("clients")
	void grantIsReleasedByItsWholeValue(String name, IntFunction<RedisConnectionFactory> client) {
		RedisLockProvider process = process(client.apply(TestRedis.port()));
		LockGrant grant = acquire(process);
		assertThat(this.admin.get(this.keys.lock()))
			.isEqualTo(RedisLayout.held(grant.owner(), grant.order(), RedisLayout.label(ProcessLabel.get())));
		assertThat(release(process, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(this.admin.exists(this.keys.lock())).isFalse();
		assertThat(release(process, grant)).isEqualTo(ReleaseOutcome.NOT_HELD);
	}

	@Test
	void grantWhoseValueHasAnotherCreationIsReleased() {
		RedisLockProvider process = process();
		this.admin.zadd(this.keys.lastOrder(), 1L << 52, RedisLayout.bytes(RedisLayout.ORDER_MEMBER));
		assertThat(release(process, acquire(process))).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(this.admin.exists(this.keys.lock())).isFalse();
	}

	@Test
	void grantThatAnotherProcessWaitsForIsReservedByItsRelease() {
		RedisLockProvider holder = process();
		RedisLockProvider waiter = process();
		LockGrant grant = acquire(holder);
		LockContender waiting = enter(waiter);
		assertThat(attempt(waiting, true)).isInstanceOf(AttemptResult.Busy.class);
		assertThat(release(holder, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		LockGrant next = granted(attempt(waiting, true));
		assertThat(release(holder, grant)).isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(release(waiter, next)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@Test
	void scriptsFlushedBetweenStepsAreSentAgain() {
		RedisLockProvider process = process();
		for (int round = 0; round < 20; round++) {
			this.admin.scriptFlush();
			LockGrant grant = acquire(process);
			this.admin.scriptFlush();
			assertThat(renew(process, grant)).containsEntry(grant, RenewalOutcome.RENEWED);
			this.admin.scriptFlush();
			assertThat(release(process, grant.owner())).isEqualTo(ReleaseOutcome.RELEASED);
		}
	}

	@Test
	void keyOfAnotherTypeIsAFailureAndRemains() {
		RedisLockProvider process = process();
		this.admin.rpush(this.keys.lock(), RedisLayout.bytes("element"));
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> acquire(process))
			.withMessageContaining("WRONGTYPE");
		assertThat(release(process, OwnerId.random())).isEqualTo(ReleaseOutcome.UNKNOWN);
		LockGrant grant = new LockGrant(KEY, OwnerId.random(), 1, LEASE);
		assertThat(renew(process, grant)).containsEntry(grant, RenewalOutcome.UNKNOWN);
		assertThat(this.admin.type(this.keys.lock())).isEqualTo("list");
	}

	@Test
	void fullMemoryRefusesGrantsAndQueueEntriesOnly() {
		RedisLockProvider holder = process();
		RedisLockProvider waiter = process();
		RedisLockProvider late = process();
		LockGrant grant = acquire(holder);
		assertThat(attempt(enter(waiter), true)).isInstanceOf(AttemptResult.Busy.class);
		this.admin.configSet("maxmemory", "1");
		try {
			assertThat(attempt(enter(late), true)).isInstanceOfSatisfying(AttemptResult.Busy.class,
					(busy) -> assertThat(busy.retryAfter()).as("the pause without an entry in the wait queue")
						.isLessThanOrEqualTo(Duration.ofMillis(100)));
			assertThat(renew(holder, grant)).containsEntry(grant, RenewalOutcome.RENEWED);
			assertThat(release(holder, grant.owner())).isEqualTo(ReleaseOutcome.RELEASED);
			this.admin.del(this.keys.lock());
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> acquire(holder)).satisfies((ex) -> {
				assertThat(ex).hasMessageContaining("OOM");
				assertThat(ex.isEffectUnknown()).isFalse();
			});
			assertThat(this.admin.exists(this.keys.lock())).isFalse();
		}
		finally {
			this.admin.configSet("maxmemory", "0");
		}
	}

	@Test
	void longQueueLosesItsOlderHalf() {
		acquire(process());
		String header = this.admin.get(new String(this.keys.lock(), StandardCharsets.UTF_8));
		long first = System.currentTimeMillis() * 1000 - RedisLayout.MOST_ENTRIES;
		StringBuilder value = new StringBuilder(header);
		for (int number = 0; number < RedisLayout.MOST_ENTRIES; number++) {
			value.append(OwnerId.random().text()).append(first + number);
		}
		this.admin.set(this.keys.lock(), RedisLayout.bytes(value.toString()),
				SetParams.setParams().px(LEASE.toMillis()));
		List<String> before = queue();
		assertThat(before).hasSize(RedisLayout.MOST_ENTRIES);
		assertThat(attempt(enter(process()), true)).isInstanceOf(AttemptResult.Busy.class);
		int half = RedisLayout.MOST_ENTRIES / 2;
		assertThat(queue()).hasSize(half + 1).startsWith(before.subList(half, 2 * half).toArray(String[]::new));
		assertThat(this.admin.get(new String(this.keys.lock(), StandardCharsets.UTF_8)))
			.as("the queue did not have their entries")
			.doesNotStartWith(header);
	}

	@Test
	void processNotifiedInVainKeepsItsScore() {
		// A machine that pauses for longer than a reservation lasts shows nothing.
		await().atMost(Duration.ofMinutes(1)).until(this::firstProcessKeepsItsScore);
	}

	private boolean firstProcessKeepsItsScore() {
		this.admin.flushAll();
		RedisLockProvider holder = process();
		LockGrant grant = acquire(holder);
		LockContender first = enter(process());
		LockContender second = enter(process());
		attempt(first, true);
		attempt(second, true);
		List<String> before = queue();
		release(holder, grant.owner());
		assertThat(queue()).hasSizeLessThan(before.size());
		RedisLockProvider third = process();
		AttemptResult[] acquired = new AttemptResult[1];
		await().pollInterval(Duration.ofMillis(10)).until(() -> {
			acquired[0] = attempt(enter(third), false);
			return acquired[0] instanceof AttemptResult.Granted;
		});
		attempt(second, true);
		attempt(first, true);
		assertThat(queue()).containsExactlyElementsOf(before);
		long released = System.nanoTime();
		release(third, granted(acquired[0]).owner());
		AttemptResult last = attempt(first, true);
		if (System.nanoTime() - released >= RedisLayout.RESERVATION.toNanos()) {
			return false;
		}
		granted(last);
		return true;
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("clients")
	void callsOfAFrozenServerEndInTime(String name, IntFunction<RedisConnectionFactory> client) {
		RedisLockProvider process = process(client.apply(TestRedis.port()));
		LockGrant grant = acquire(process);
		Duration timeout = Duration.ofMillis(300);
		try (FrozenProcesses frozen = FrozenProcesses.freeze(TestRedis.server().handle())) {
			for (int round = 0; round < 3; round++) {
				await().pollDelay(Duration.ZERO).untilAsserted(() -> {
					long start = System.nanoTime();
					assertThatExceptionOfType(LockProviderException.class)
						.isThrownBy(
								() -> resultOf(enter(process).attempt(OwnerId.random(), LEASE, true, timeout), timeout))
						.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_TIMEOUT));
					assertThatExceptionOfType(LockProviderException.class)
						.isThrownBy(() -> resultOf(process.renew(Map.of(grant, LEASE), timeout), timeout));
					assertThat(outcomeOf(process.release(KEY, OwnerId.random(), timeout), timeout))
						.isEqualTo(ReleaseOutcome.UNKNOWN);
					assertThat(Duration.ofNanos(System.nanoTime() - start))
						.isLessThan(TimeBounds.withLoad(timeout.multipliedBy(3)));
				});
			}
			Thread caller = Thread.currentThread();
			AtomicLong interrupted = new AtomicLong();
			Thread interrupter = new Thread(() -> {
				await().until(() -> caller.getState() == Thread.State.TIMED_WAITING);
				interrupted.set(System.nanoTime());
				caller.interrupt();
			});
			interrupter.start();
			assertThatExceptionOfType(LockProviderException.class)
				.isThrownBy(() -> resultOf(enter(process).attempt(OwnerId.random(), LEASE, true, PATIENCE), PATIENCE));
			assertThat(Thread.interrupted()).isTrue();
			assertThat(Duration.ofNanos(System.nanoTime() - interrupted.get())).isLessThan(TimeBounds.withLoad(100));
		}
		await().atMost(PATIENCE).until(() -> release(process, grant.owner()) != ReleaseOutcome.UNKNOWN);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("clients")
	void callWhoseTimeEndsBeforeItsConnectionIsThereIsNeverSent(String name,
			IntFunction<RedisConnectionFactory> client) {
		Duration timeout = Duration.ofMillis(300);
		try (TcpProxy proxy = new TcpProxy(TestRedis.server().address())) {
			RedisLockProvider process = process(client.apply(proxy.port()));
			WireFault held = proxy.onRequest((packet) -> true, Effect.HOLD).once();
			StoreCall<AttemptResult> call = enter(process).attempt(OwnerId.random(), LEASE, false, timeout);
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> resultOf(call, timeout));
			assertThat(call.mayHaveBeenSent()).isFalse();
			await().until(() -> held.hits() == 1);
			held.close();
			// Waits for the worker, whose connection is there now.
			process.close();
			assertThat(call.mayHaveBeenSent()).isFalse();
			assertThat(this.admin.exists(this.keys.lock())).isFalse();
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("clients")
	void closedProviderSendsNothing(String name, IntFunction<RedisConnectionFactory> client) {
		RedisLockProvider process = process(client.apply(TestRedis.port()));
		LockGrant grant = acquire(process);
		process.close();
		for (boolean willWait : new boolean[] { true, false }) {
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> attempt(enter(process), willWait))
				.satisfies((ex) -> {
					assertThat(ex.error()).isEqualTo(LockError.SHUTTING_DOWN);
					assertThat(ex.isEffectUnknown()).isFalse();
				});
		}
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> renew(process, grant));
		assertThat(release(process, grant.owner())).isEqualTo(ReleaseOutcome.UNKNOWN);
		assertThat(this.admin.exists(this.keys.lock())).isTrue();
	}

	@Test
	void probeOfANodeChangesNoLock() {
		acquire(process());
		byte[] value = this.admin.get(this.keys.lock());
		long expiry = this.admin.pexpireTime(this.keys.lock());
		ScriptCall probe = ScriptCall.probe(this.keys.lock());
		this.admin.eval(probe.script().text(), probe.keys().length, probe.keysAndArguments());
		assertThat(this.admin.get(this.keys.lock())).isEqualTo(value);
		assertThat(this.admin.pexpireTime(this.keys.lock())).isEqualTo(expiry);
	}

	@Test
	void replicaRefusesTheProbe() {
		try (RedisServer replica = new RedisServer(); Jedis server = replica.admin()) {
			server.replicaof("127.0.0.1", TestRedis.port());
			ScriptCall probe = ScriptCall.probe(this.keys.lock());
			assertThatExceptionOfType(JedisDataException.class)
				.isThrownBy(() -> server.eval(probe.script().text(), probe.keys().length, probe.keysAndArguments()))
				.withMessageStartingWith("READONLY");
		}
	}

	@Test
	void counterCountsOnlyBrokenConnections() {
		LettuceConnectionFactory factory = TestRedis.lettuce(TestRedis.port());
		try (DisconnectCounter counter = new DisconnectCounter()) {
			factory.getConnection().close();
			counter.watch(factory.getRequiredNativeClient());
			RedisConnection dedicated = factory.getConnection();
			dedicated.multi();
			dedicated.discard();
			dedicated.close();
			this.admin.clientKill(new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES));
			await().until(() -> counter.count() > 0);
			assertThat(counter.count()).isEqualTo(1);
		}
		finally {
			factory.destroy();
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("clients")
	void everyWaiterIsSignalledAfterANewSubscription(String name, IntFunction<RedisConnectionFactory> client) {
		RedisLockProvider holder = process();
		RedisLockProvider waiter = process(client.apply(TestRedis.port()));
		acquire(holder);
		AtomicInteger signals = new AtomicInteger();
		LockContender contender = waiter.newContender(KEY, signals::incrementAndGet);
		attempt(contender, true);
		signals.set(0);
		this.admin.clientKill(new ClientKillParams().type(ClientType.PUBSUB));
		await().pollInterval(Duration.ofMillis(20)).until(() -> {
			attempt(contender, true);
			return signals.get() > 0 && waiter.subscription().isActive();
		});
	}

	@Test
	void deniedSubscriptionIsWarnedOfOnceAndReplacedByPolls(CapturedOutput output) {
		this.admin.aclSetUser("unsubscribed", "on", ">secret", "~*", "+@all", "resetchannels");
		LettuceConnectionFactory factory = TestRedis.lettuce(TestRedis.port(), "unsubscribed", "secret");
		try {
			RedisLockProvider holder = process();
			acquire(holder);
			LockContender contender = enter(process(factory));
			for (int round = 0; round < 3; round++) {
				AttemptResult attempt = attempt(contender, true);
				assertThat(attempt).isInstanceOf(AttemptResult.Busy.class);
				assertThat(((AttemptResult.Busy) attempt).retryAfter()).isLessThanOrEqualTo(Duration.ofMillis(100));
			}
			assertThat(queue()).hasSize(1);
			await().untilAsserted(() -> assertThat(output.getAll().split("Redis does not permit", -1)).hasSize(2));
		}
		finally {
			this.admin.aclDelUser("unsubscribed");
		}
	}

	@Test
	void deniedNotificationIsWarnedOfOnce(CapturedOutput output) {
		this.admin.aclSetUser("mute", "on", ">secret", "~*", "&*", "+@all", "-publish");
		try {
			RedisLockProvider holder = process(TestRedis.lettuce(TestRedis.port(), "mute", "secret"));
			RedisLockProvider waiter = process(TestRedis.lettuce(TestRedis.port(), "mute", "secret"));
			for (int round = 0; round < 2; round++) {
				LockGrant grant = acquire(holder);
				LockContender contender = enter(waiter);
				assertThat(attempt(contender, true)).isInstanceOf(AttemptResult.Busy.class);
				assertThat(release(holder, grant.owner())).isEqualTo(ReleaseOutcome.RELEASED);
				contender.withdraw(Duration.ofSeconds(5));
				await().until(() -> !this.admin.exists(this.keys.lock()));
			}
			assertThat(output.getAll().split("Redis does not run PUBLISH", -1)).hasSize(2);
		}
		finally {
			this.admin.aclDelUser("mute");
		}
	}

	@Test
	void unwantedReservationIsMadeForTheNextProcess() {
		RedisLockProvider holder = process();
		LockGrant grant = acquire(holder);
		RedisLockProvider gone = process();
		LockContender forgotten = enter(gone);
		attempt(forgotten, true);
		gone.contenders().remove((RedisContender) forgotten);
		RedisLockProvider next = process();
		LockContender waiting = enter(next);
		attempt(waiting, true);
		release(holder, grant.owner());
		await().pollInterval(Duration.ofMillis(2))
			.until(() -> new String(this.admin.get(this.keys.lock())).startsWith(next.process() + "R"));
		granted(attempt(waiting, true));
	}

}
