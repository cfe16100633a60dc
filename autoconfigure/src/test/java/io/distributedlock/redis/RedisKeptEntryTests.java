package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.RedisLockKeys;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of the entry in the wait queue that the release of a process makes if the process
 * has acquired the lock again before.
 */
@Tag("full")
class RedisKeptEntryTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final int HAND_OVERS = 20;

	private static final int PROCESSES = 12;

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private final RedisLockKeys keys = RedisProcesses.LAYOUT.keys(KEY);

	private final Jedis admin = this.processes.closing(TestRedis.emptied());

	private final CommandStats stats = new CommandStats(this.admin);

	private Contestant process(Function<RedisConfiguration, RedisConnectionFactory> client) {
		return new Contestant(this.processes.provider(client.apply(TestRedis.standalone(TestRedis.port()))));
	}

	/** Lets both processes come back once, so that their releases keep entries. */
	private void begin(Contestant first, Contestant second) {
		this.admin.del(this.keys.lock());
		first.acquire();
		second.comeBack();
		for (int round = 0; round < 2; round++) {
			first.handOver(second);
			second.handOver(first);
		}
	}

	/** Repeats what a machine has disturbed that pauses for longer than a reservation. */
	private static ConditionFactory rounds() {
		return await().pollDelay(Duration.ZERO).atMost(Duration.ofMinutes(1)).ignoreExceptions();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void handOverBetweenProcessesThatComeBackCostsNineCommands(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		AtomicReference<Map<String, Long>> counted = new AtomicReference<>();
		rounds().until(() -> {
			Contestant first = process(client);
			Contestant second = process(client);
			begin(first, second);
			this.stats.reset();
			boolean inTime = true;
			for (int handOver = 0; inTime && handOver < HAND_OVERS; handOver += 2) {
				inTime = first.handOver(second) && second.handOver(first);
			}
			first.release();
			second.leave();
			counted.set(this.stats.calls());
			return inTime;
		});
		Map<String, Long> calls = counted.get();
		calls.keySet().retainAll(Map.of("evalsha", 0, "get", 0, "set", 0, "publish", 0, "time", 0, "zadd", 0).keySet());
		long all = calls.values().stream().mapToLong(Long::longValue).sum();
		// And the last release, with the two or three withdrawals that follow it.
		assertThat(all).as("commands of %d hand-overs: %s", HAND_OVERS, calls)
			.isBetween(9L * HAND_OVERS, 9L * HAND_OVERS + 12);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void entryOfAProcessThatDoesNotComeBackIsWithdrawn(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		rounds().untilAsserted(() -> {
			Contestant first = process(client);
			Contestant second = process(client);
			Contestant third = process(client);
			begin(first, second);
			first.release();
			assertThat(LockValues.queue(this.admin, this.keys)).hasSize(1)
				.allSatisfy((entry) -> assertThat(entry).startsWith(first.provider.process()));
			second.acquireNotified();
			third.comeBack();
			second.release();
			third.acquireNotified();
			third.release();
			assertThat(LockValues.queue(this.admin, this.keys))
				.noneSatisfy((entry) -> assertThat(entry).startsWith(first.provider.process()));
		});
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void closedProcessLeavesNoEntry(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		rounds().untilAsserted(() -> {
			Contestant first = process(client);
			Contestant second = process(client);
			begin(first, second);
			first.release();
			assertThat(LockValues.queue(this.admin, this.keys)).hasSize(1);
			first.provider.close();
			assertThat(LockValues.queue(this.admin, this.keys)).isEmpty();
		});
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void processThatDoesNotWaitAsksTheServerInSpiteOfItsEntry(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		rounds().untilAsserted(() -> {
			Contestant first = process(client);
			Contestant second = process(client);
			begin(first, second);
			first.release();
			second.acquireNotified();
			second.leave();
			this.admin.del(this.keys.lock());
			RedisProcesses.granted(RedisProcesses.attempt(first.provider, KEY));
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void releaseKeepsNoEntryBehindAReaderThatWouldHoldOthersBack(boolean behindAWriter) {
		rounds().untilAsserted(() -> {
			Contestant first = process(TestClients::lettuce);
			Contestant second = process(TestClients::lettuce);
			Contestant reader = process(TestClients::lettuce);
			begin(first, second);
			if (!behindAWriter) {
				second.leave();
			}
			reader.contender = reader.provider.newShareContender(KEY, Integer.MAX_VALUE, () -> {
				// The lock is only reserved.
			});
			assertThat(RedisProcesses.enqueue(reader.contender)).isInstanceOf(AttemptResult.Busy.class);
			first.release();
			String readers = "[0-9a-f]{31}[13579bdf]";
			assertThat(this.admin.get(this.keys.name()))
				.matches(behindAWriter ? "[0-9a-f]{31}[02468ace]R\\d{16}" + readers + "\\d{16}" : readers + "R\\d{16}");
		});
	}

	/**
	 * Of so many processes, those that release the lock later leave the check of the
	 * reservation to those that released it earlier.
	 */
	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void pausedProcessAmongManyDelaysTheOthersByAboutOneReservation(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		List<Contestant> all = new ArrayList<>();
		for (int number = 0; number < PROCESSES; number++) {
			all.add(process(client));
		}
		rounds().until(() -> {
			all.forEach((process) -> {
				process.leave();
				process.contender = process.enter();
			});
			this.admin.del(this.keys.lock());
			all.get(0).acquire();
			all.subList(1, PROCESSES).forEach(Contestant::comeBack);
			for (int turn = 0; turn < 3 * PROCESSES; turn++) {
				all.get(turn % PROCESSES).handOver(all.get((turn + 1) % PROCESSES));
			}
			Contestant holder = all.get(0);
			Contestant afterPaused = all.get(2);
			afterPaused.notifications.set(0);
			holder.release();
			long released = System.nanoTime();
			afterPaused.acquireNotified();
			Duration delay = Duration.ofNanos(System.nanoTime() - released);
			afterPaused.release();
			return delay.compareTo(RedisLayout.RESERVATION.multipliedBy(2)) < 0;
		});
	}

	/** A process with one request at a time, which waits again after each release. */
	private static final class Contestant {

		private final RedisLockProvider provider;

		private final AtomicInteger notifications = new AtomicInteger();

		private LockContender contender;

		private LockGrant grant;

		private Contestant(RedisLockProvider provider) {
			this.provider = provider;
			this.contender = enter();
		}

		private LockContender enter() {
			return this.provider.newContender(KEY, this.notifications::incrementAndGet);
		}

		private void acquire() {
			this.grant = RedisProcesses.granted(RedisProcesses.enqueue(this.contender));
			this.contender.close();
		}

		private void comeBack() {
			this.contender = enter();
			assertThat(RedisProcesses.enqueue(this.contender)).isInstanceOf(AttemptResult.Busy.class);
		}

		private void acquireNotified() {
			await().pollInterval(Duration.ofMillis(1)).until(() -> this.notifications.getAndSet(0) > 0);
			acquire();
		}

		private void release() {
			assertThat(RedisProcesses.release(this.provider, this.grant)).isEqualTo(ReleaseOutcome.RELEASED);
		}

		/** Hands the lock over; returns whether the other process came in time. */
		private boolean handOver(Contestant next) {
			long released = System.nanoTime();
			next.notifications.set(0);
			release();
			comeBack();
			next.acquireNotified();
			return System.nanoTime() - released < RedisLayout.RESERVATION.toNanos();
		}

		private void leave() {
			outcomeOf(this.contender.withdraw(RedisProcesses.TIMEOUT), RedisProcesses.TIMEOUT);
			this.contender.close();
		}

	}

}
