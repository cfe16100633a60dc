package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockInterruptedException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.support.LockTemplate;
import io.distributedlock.testkit.TimeBounds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Who is woken when those who should be cannot be, or do not want the lock any more.
 */
class RedisWakeUpTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final LockRequest PATIENT = LockRequest.of(KEY).withWaitTime(Duration.ofSeconds(20));

	/** Less than the shortest pause of a timer. */
	private static final Duration BY_MESSAGE = Duration.ofMillis(600);

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private final LockNames names = RedisProcesses.KEYS.names(KEY);

	private final Jedis admin = this.processes.closing(TestRedis.emptied());

	private static RedisConnectionFactory connect(Function<RedisConfiguration, RedisConnectionFactory> client) {
		return client.apply(TestRedis.standalone(TestRedis.port()));
	}

	private void awaitLine(int length) {
		await().pollInterval(Duration.ofMillis(2)).until(() -> this.admin.zcard(this.names.line()) == length);
	}

	/** How long it takes from now on until a process gets and gives back the lock. */
	private static CompletableFuture<Long> acquired(LockTemplate locks) {
		return CompletableFuture.supplyAsync(() -> {
			try (LockLease lease = locks.acquire(PATIENT)) {
				lease.ensureHeld();
				return System.nanoTime();
			}
		});
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void deadFirstWaiterCostsOneGraceOnce(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		// A second grace would be in every round, a pause of the machine is not.
		await().atMost(Duration.ofMinutes(1)).until(() -> deadFirstWaiterCostsOneGrace(client));
	}

	private boolean deadFirstWaiterCostsOneGrace(Function<RedisConfiguration, RedisConnectionFactory> client)
			throws Exception {
		RedisLockProvider holder = this.processes.provider(connect(client));
		RedisLockProvider dead = this.processes.provider(connect(client));
		LockGrant grant = RedisProcesses.take(holder, KEY);
		RedisProcesses.standInLine(RedisProcesses.enter(dead, KEY));
		dead.close();
		awaitLine(1);
		List<CompletableFuture<Long>> living = new ArrayList<>();
		for (int number = 0; number < 3; number++) {
			living.add(acquired(this.processes.locks(connect(client))));
			awaitLine(number + 2);
		}
		long released = System.nanoTime();
		RedisProcesses.release(holder, grant);
		List<Long> turns = new ArrayList<>();
		for (CompletableFuture<Long> one : living) {
			turns.add(one.get(10, TimeUnit.SECONDS));
		}
		assertThat(turns).isSorted();
		Duration first = Duration.ofNanos(turns.get(0) - released);
		Duration others = Duration.ofNanos(turns.get(2) - turns.get(0));
		assertThat(first).isGreaterThanOrEqualTo(Duration.ofMillis(95));
		return first.compareTo(BY_MESSAGE) <= 0 && others.toMillis() < 95;
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void waiterThatGivesUpWhenItIsCalledLeavesTheTurnToTheNext(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) throws Exception {
		RedisLockProvider holder = this.processes.provider(connect(client));
		LockTemplate fickle = this.processes.locks(connect(client));
		LockTemplate patient = this.processes.locks(connect(client));
		int byMessage = 0;
		for (int round = 0; round < 20; round++) {
			LockGrant grant = RedisProcesses.take(holder, KEY);
			CompletableFuture<Void> first = new CompletableFuture<>();
			Thread waiter = new Thread(() -> {
				try (LockLease lease = fickle.acquire(PATIENT)) {
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
			awaitLine(1);
			CompletableFuture<Long> next = acquired(patient);
			awaitLine(2);
			long released = System.nanoTime();
			Thread interrupter = new Thread(waiter::interrupt);
			interrupter.start();
			RedisProcesses.release(holder, grant);
			Duration took = Duration.ofNanos(next.get(10, TimeUnit.SECONDS) - released);
			assertThat(took).isLessThan(TimeBounds.withLoad(AttemptReply.POLL));
			byMessage += (took.compareTo(BY_MESSAGE) < 0) ? 1 : 0;
			first.get(10, TimeUnit.SECONDS);
			interrupter.join();
			await().until(() -> !this.admin.exists(this.names.lock()) && !this.admin.exists(this.names.line()));
		}
		assertThat(byMessage).isGreaterThan(10);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void waiterThatNoMessageReachesTakesOverByItsTimer(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) throws Exception {
		RedisLockProvider holder = this.processes.provider(connect(client));
		LockTemplate waiting = this.processes.locks(connect(client));
		LockGrant grant = RedisProcesses.take(holder, KEY);
		CompletableFuture<Long> waiter = acquired(waiting);
		awaitLine(1);
		this.admin.clientKill(new ClientKillParams().type(ClientType.PUBSUB));
		long released = System.nanoTime();
		RedisProcesses.release(holder, grant);
		while (!waiter.isDone()) {
			this.admin.clientKill(new ClientKillParams().type(ClientType.PUBSUB));
			assertThat(Duration.ofNanos(System.nanoTime() - released)).isLessThan(Duration.ofSeconds(20));
		}
		assertThat(Duration.ofNanos(waiter.get() - released))
			.isLessThanOrEqualTo(TimeBounds.withLoad(AttemptReply.POLL.plusMillis(250)));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void placeThatCannotBeGivenUpKeepsNobodyAmongThoseWhoWait(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisServer server = this.processes.closing(new RedisServer());
		RedisLockProvider holder = this.processes.provider(client.apply(TestRedis.standalone(server.port())));
		RedisLockProvider waiter = this.processes.provider(client.apply(TestRedis.standalone(server.port())));
		RedisProcesses.take(holder, KEY);
		LockContender contender = RedisProcesses.enter(waiter, KEY);
		RedisProcesses.standInLine(contender);
		assertThat(waiter.waiting().size()).isEqualTo(1);
		server.kill();
		assertThat(contender.withdraw(Duration.ofMillis(300))).isEqualTo(ReleaseOutcome.UNKNOWN);
		assertThat(waiter.waiting().size()).isZero();
		server.start();
		await().untilAsserted(
				() -> assertThat(contender.withdraw(Duration.ofSeconds(1))).isNotEqualTo(ReleaseOutcome.UNKNOWN));
	}

}
