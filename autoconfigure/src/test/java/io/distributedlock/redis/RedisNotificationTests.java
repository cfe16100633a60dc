package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.LockInterruptedException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.RedisLockKeys;
import io.distributedlock.testkit.FrozenProcesses;
import io.distributedlock.testkit.TimeBounds;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of notifications that are lost, or reach processes that wait no more.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("full")
class RedisNotificationTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final LockRequest PATIENT = LockRequest.of(KEY).withWaitTime(Duration.ofSeconds(20));

	/** Less than the shortest poll interval. */
	private static final Duration BY_NOTIFICATION = Duration.ofMillis(600);

	/** How many hand-overs by notification have to be seen. */
	private static final int FEW = 11;

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private final RedisLockKeys keys = RedisProcesses.LAYOUT.keys(KEY);

	private final Jedis admin = this.processes.closing(TestRedis.emptied());

	private static RedisConnectionFactory connect(Function<RedisConfiguration, RedisConnectionFactory> client) {
		return client.apply(TestRedis.standalone(TestRedis.port()));
	}

	private void awaitQueue(int length) {
		await().pollInterval(Duration.ofMillis(2))
			.until(() -> LockValues.queue(this.admin, this.keys).size() == length);
	}

	/** Acquires and releases the lock in another thread; the result is the time. */
	private static CompletableFuture<Long> acquired(LockTemplate locks) {
		return CompletableFuture.supplyAsync(() -> {
			try (LockLease lease = locks.acquire(PATIENT)) {
				lease.ensureHeld();
				return System.nanoTime();
			}
		}, (task) -> new Thread(task).start());
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void deadFirstProcessDelaysTheNextByOneReservation(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		// A second reservation would delay every round, a pause of the machine does not.
		await().atMost(Duration.ofMinutes(1)).until(() -> deadFirstProcessDelaysOnce(client));
	}

	private boolean deadFirstProcessDelaysOnce(Function<RedisConfiguration, RedisConnectionFactory> client)
			throws Exception {
		RedisLockProvider holder = this.processes.provider(connect(client));
		RedisLockProvider dead = this.processes.provider(connect(client));
		LockGrant grant = RedisProcesses.acquire(holder, KEY);
		RedisProcesses.enqueue(RedisProcesses.enter(dead, KEY));
		dead.close();
		awaitQueue(1);
		List<CompletableFuture<Long>> living = new ArrayList<>();
		for (int number = 0; number < 3; number++) {
			living.add(acquired(this.processes.locks(connect(client))));
			awaitQueue(number + 2);
		}
		long released = System.nanoTime();
		RedisProcesses.release(holder, grant);
		List<Long> turns = new ArrayList<>();
		for (CompletableFuture<Long> one : living) {
			turns.add(one.get(10, TimeUnit.SECONDS));
		}
		Duration first = Duration.ofNanos(turns.get(0) - released);
		Duration others = Duration.ofNanos(turns.get(2) - turns.get(0));
		assertThat(first).isGreaterThanOrEqualTo(Duration.ofMillis(95));
		// A process that asks at the very moment at which the reservation ends is served.
		boolean inOrder = turns.equals(turns.stream().sorted().toList());
		return inOrder && first.compareTo(BY_NOTIFICATION) <= 0 && others.toMillis() < 95;
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void interruptedWaiterLeavesItsReservationToTheNext(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) throws Exception {
		RedisLockProvider holder = this.processes.provider(connect(client));
		LockTemplate impatient = this.processes.locks(connect(client));
		LockTemplate patient = this.processes.locks(connect(client));
		int byNotification = 0;
		int late = 0;
		for (int round = 0; round < 20 || (byNotification < FEW && round < 100); round++) {
			LockGrant grant = RedisProcesses.acquire(holder, KEY);
			CompletableFuture<Void> first = new CompletableFuture<>();
			Thread waiter = new Thread(() -> {
				try (LockLease lease = impatient.acquire(PATIENT)) {
					lease.ensureHeld();
					first.complete(null);
				}
				catch (LockInterruptedException ex) {
					first.complete(null);
				}
				catch (RuntimeException ex) {
					first.completeExceptionally(ex);
				}
			});
			waiter.start();
			awaitQueue(1);
			CompletableFuture<Long> next = acquired(patient);
			awaitQueue(2);
			long released = System.nanoTime();
			Thread interrupter = new Thread(waiter::interrupt);
			interrupter.start();
			RedisProcesses.release(holder, grant);
			Duration elapsed = Duration.ofNanos(next.get(10, TimeUnit.SECONDS) - released);
			late += (elapsed.compareTo(TimeBounds.withLoad(RedisLayout.POLL_INTERVAL)) < 0) ? 0 : 1;
			byNotification += (elapsed.compareTo(BY_NOTIFICATION) < 0) ? 1 : 0;
			first.get(10, TimeUnit.SECONDS);
			interrupter.join();
			await().until(() -> !this.admin.exists(this.keys.lock()));
		}
		assertThat(byNotification).isGreaterThanOrEqualTo(FEW);
		// A machine that stalls is late now and then.
		assertThat(late).isLessThanOrEqualTo(2);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void waiterWithoutNotificationAcquiresByItsTimer(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider holder = this.processes.provider(connect(client));
		LockTemplate waiting = this.processes.locks(connect(client));
		// A machine that stalls is late, but not each time.
		await().pollDelay(Duration.ZERO).atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
			LockGrant grant = RedisProcesses.acquire(holder, KEY);
			CompletableFuture<Long> waiter = acquired(waiting);
			awaitQueue(1);
			this.admin.clientKill(new ClientKillParams().type(ClientType.PUBSUB));
			long released = System.nanoTime();
			RedisProcesses.release(holder, grant);
			while (!waiter.isDone()) {
				this.admin.clientKill(new ClientKillParams().type(ClientType.PUBSUB));
				assertThat(Duration.ofNanos(System.nanoTime() - released)).isLessThan(Duration.ofSeconds(20));
			}
			assertThat(Duration.ofNanos(waiter.get() - released))
				.isLessThanOrEqualTo(TimeBounds.withLoad(RedisLayout.POLL_INTERVAL.plusMillis(250)));
		});
	}

	/** Tracing, for one, wraps factories: what is behind them is not known. */
	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void waiterBehindAWrappedFactoryIsNotified(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider holder = this.processes.provider(connect(client));
		RedisLockProvider waiter = this.processes.provider(TestClients.wrapped(connect(client)));
		LockGrant grant = RedisProcesses.acquire(holder, KEY);
		AtomicInteger signals = new AtomicInteger();
		LockContender contender = waiter.newContender(KEY, signals::incrementAndGet);
		RedisProcesses.enqueue(contender);
		assertThat(waiter.subscription().isActive()).isTrue();
		awaitQueue(1);
		signals.set(0);
		assertThat(RedisProcesses.release(holder, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		await().until(() -> signals.get() > 0);
	}

	/** Outside the queue, the processes in it would leave it no turn. */
	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void processThatMayNotSubscribeWaitsInTheQueue(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		this.admin.aclSetUser("deaf", "reset", "on", ">secret", "allkeys", "allchannels", "+@all", "-subscribe");
		this.processes.closing(() -> this.admin.aclDelUser("deaf"));
		RedisLockProvider holder = this.processes.provider(connect(client));
		RedisLockProvider deaf = this.processes
			.provider(client.apply(TestRedis.standalone(TestRedis.port(), "deaf", "secret")));
		RedisProcesses.acquire(holder, KEY);
		LockContender contender = RedisProcesses.enter(deaf, KEY);
		for (int attempt = 0; attempt < 3; attempt++) {
			assertThat(((AttemptResult.Busy) RedisProcesses.enqueue(contender)).retryAfter())
				.as("twice in the time of a reservation")
				.isLessThanOrEqualTo(RedisLayout.RESERVATION.dividedBy(2));
			assertThat(LockValues.queue(this.admin, this.keys)).hasSize(1);
		}
	}

	@Test
	void closedFactoryIsNotClosedAgain(CapturedOutput output) {
		LettuceConnectionFactory factory = TestRedis.lettuce(TestRedis.port());
		RedisLockProvider provider = this.processes.provider(factory);
		provider.subscription().begin();
		await().until(provider.subscription()::isActive);
		factory.stop();
		provider.close();
		assertThat(output).doesNotContain("already closed");
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void failedWithdrawalUnregistersTheContender(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisServer server = this.processes.closing(new RedisServer());
		RedisLockProvider holder = this.processes.provider(client.apply(TestRedis.standalone(server.port())));
		RedisLockProvider waiter = this.processes.provider(client.apply(TestRedis.standalone(server.port())));
		RedisProcesses.acquire(holder, KEY);
		LockContender contender = RedisProcesses.enter(waiter, KEY);
		RedisProcesses.enqueue(contender);
		assertThat(waiter.contenders().size()).isEqualTo(1);
		server.kill();
		assertThat(withdraw(contender, Duration.ofMillis(300))).isEqualTo(ReleaseOutcome.UNKNOWN);
		assertThat(waiter.contenders().size()).isZero();
		server.start();
		// Lettuce pauses between its tries to connect, for longer the longer they fail.
		await().atMost(Duration.ofMinutes(1))
			.until(() -> withdraw(contender, Duration.ofSeconds(1)) != ReleaseOutcome.UNKNOWN);
	}

	private static ReleaseOutcome withdraw(LockContender contender, Duration timeout) {
		return outcomeOf(contender.withdraw(timeout), timeout);
	}

	/** Subscribes and waits as a contender does. */
	private static void activate(NotificationSubscription subscription, Deadline end) {
		subscription.activate(end).join();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void subscriptionThatEndsWhileItBeginsLeavesNothing(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) throws Exception {
		RedisServer server = this.processes.closing(new RedisServer());
		RedisConnectionFactory factory = client.apply(TestRedis.standalone(server.port()));
		for (int round = 0; round < 50; round++) {
			RedisLockProvider provider = new RedisLockProvider(factory, RedisLockSettings.defaults("closing"));
			activate(provider.subscription(), Deadline.afterNanos(round * 50_000L));
			provider.close();
			try (RedisConnection lent = factory.getConnection()) {
				assertThat(lent.ping()).isEqualTo("PONG");
			}
		}
		RedisLockProvider provider = this.processes.provider(factory);
		try (FrozenProcesses frozen = FrozenProcesses.freeze(server.handle())) {
			activate(provider.subscription(), Deadline.after(Duration.ofMillis(100)));
			assertThat(provider.subscription().isActive()).isFalse();
			provider.close();
		}
		try (Jedis local = server.admin()) {
			await().until(() -> local.clientList(ClientType.PUBSUB).isBlank() && Thread.getAllStackTraces()
				.keySet()
				.stream()
				.noneMatch((thread) -> thread.getName().startsWith("distributed-lock-redis-subscription")));
		}
	}

}
