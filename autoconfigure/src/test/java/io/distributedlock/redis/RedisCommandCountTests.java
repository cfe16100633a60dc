package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.RedisLockKeys;
import io.distributedlock.redis.script.Script;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of the number of commands per step, as the server counts them.
 */
@Tag("full")
class RedisCommandCountTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	/** Somewhat less than a reservation lasts. */
	private static final Duration GRACE = Duration.ofMillis(95);

	private static final int PROCESSES = 200;

	private static final int HAND_OVERS = 500;

	private final LettuceConnectionFactory factory = TestRedis.lettuce(TestRedis.port());

	private final Jedis admin = TestRedis.admin();

	private final CommandStats stats = new CommandStats(this.admin);

	private final List<AutoCloseable> opened = new ArrayList<>();

	private final LockTimer timer = new LockTimer();

	@BeforeEach
	void empty() {
		this.admin.flushAll();
	}

	@AfterEach
	void close() throws Exception {
		for (AutoCloseable closeable : this.opened) {
			closeable.close();
		}
		this.timer.close();
		this.admin.close();
		this.factory.destroy();
	}

	private RedisLockProvider process() {
		RedisLockProvider provider = new RedisLockProvider(this.factory, RedisLockSettings.defaults("count"));
		provider.check(TIMEOUT);
		this.opened.add(provider);
		return provider;
	}

	private LockTemplate locks() {
		LockTemplate locks = new LockTemplate(process(), LockSettings.defaults(), this.timer, List.of(), List.of());
		this.opened.add(0, locks);
		return locks;
	}

	@Test
	void uncontendedLockCostsTwoCommandsAndNoMessages() {
		LockTemplate locks = locks();
		locks.acquire(LockRequest.of(LockKey.of("warm-up"))).close();
		this.stats.reset();
		for (int number = 0; number < 10; number++) {
			locks.acquire(LockRequest.of(LockKey.of("lock", "key-" + number))).close();
		}
		assertThat(this.stats.calls()).containsOnly(Map.entry("evalsha", 20L), Map.entry("set", 10L),
				Map.entry("time", 10L), Map.entry("zadd", 10L), Map.entry("get", 10L), Map.entry("del", 10L));
	}

	@Test
	void uncontendedShareCostsTwoCommandsAndNoMessages() {
		RedisLockProvider process = process();
		RedisLockProvider other = process();
		RedisProcesses.release(process, share(process, LockKey.of("warm-up")));
		for (boolean beside : new boolean[] { false, true }) {
			LockKey key = LockKey.of("lock", "shared-" + beside);
			if (beside) {
				share(other, key);
			}
			this.stats.reset();
			LockGrant share = share(process, key);
			assertThat(this.stats.calls()).containsOnly(Map.entry("evalsha", 1L), Map.entry("time", 1L),
					Map.entry("get", 1L), Map.entry("zadd", 1L), Map.entry("set", 1L));
			this.stats.reset();
			assertThat(RedisProcesses.release(process, share)).isEqualTo(ReleaseOutcome.RELEASED);
			Map<String, Long> released = beside ? Map.of("pexpire", 1L, "set", 1L) : Map.of("del", 1L);
			assertThat(this.stats.calls()).containsAllEntriesOf(released)
				.containsAllEntriesOf(Map.of("evalsha", 1L, "get", 1L, "time", 1L))
				.hasSize(3 + released.size());
		}
	}

	private static LockGrant share(RedisLockProvider process, LockKey key) {
		LockContender contender = process.newShareContender(key, Integer.MAX_VALUE, () -> {
		});
		return RedisProcesses
			.granted(resultOf(contender.attempt(OwnerId.random().ofShare(true), LEASE, false, TIMEOUT), TIMEOUT));
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 200 })
	void contendedHandOverBetweenProcessesCostsAtMostFiveCommands(int threads) throws Exception {
		LockRequest request = LockRequest.of(LockKey.of("lock", "hot")).withWaitTime(Duration.ofSeconds(30));
		List<LockTemplate> processes = List.of(locks(), locks());
		AtomicInteger handOvers = new AtomicInteger();
		AtomicInteger acquired = new AtomicInteger();
		ExecutorService pool = Executors.newFixedThreadPool(threads);
		try {
			activateSubscriptions(processes, request);
			this.stats.reset();
			run(pool, processes, request, threads, handOvers, acquired);
		}
		finally {
			pool.shutdownNow();
		}
		Map<String, Long> calls = this.stats.calls();
		assertThat(calls).containsKey("publish").doesNotContainKey("subscribe");
		// A process whose rival pauses acquires the lock again, for two commands.
		int again = acquired.get() - handOvers.get();
		assertThat(CommandStats.ofClients(calls))
			.as("commands for %s hand-overs of %s locks: %s", handOvers, acquired, calls)
			.isLessThanOrEqualTo(5L * handOvers.get() + 2L * again);
	}

	private void activateSubscriptions(List<LockTemplate> processes, LockRequest request) {
		try (LockLease lease = locks().acquire(request)) {
			await().atMost(Duration.ofMinutes(1)).until(() -> {
				for (LockTemplate process : processes) {
					assertThat(process.tryAcquire(request.withWaitTime(Duration.ofMillis(300)))).isNull();
				}
				return this.admin.pubsubChannels("count:notify:*").size() == 2 * processes.size();
			});
			lease.ensureHeld();
		}
	}

	/** Goes on until the lock was handed over often, however late a thread begins. */
	private static void run(ExecutorService pool, List<LockTemplate> processes, LockRequest request, int threads,
			AtomicInteger handOvers, AtomicInteger acquired) throws Exception {
		List<Future<?>> all = new ArrayList<>();
		AtomicInteger last = new AtomicInteger(-1);
		for (int thread = 0; thread < threads; thread++) {
			int process = thread % processes.size();
			all.add(pool.submit(() -> {
				while (handOvers.get() < HAND_OVERS) {
					try (LockLease lease = processes.get(process).acquire(request)) {
						lease.ensureHeld();
						acquired.incrementAndGet();
						if (last.getAndSet(process) != process) {
							handOvers.incrementAndGet();
						}
					}
				}
			}));
		}
		for (Future<?> one : all) {
			one.get(100, TimeUnit.SECONDS);
		}
	}

	@Test
	void processInTheQueueOfAHeldLockReadsNoQueue() {
		LockKey key = LockKey.of("lock", "held");
		LockContender waiter = process().newContender(key, () -> {
		});
		granted(attempt(process().newContender(key, () -> {
		})));
		AttemptResult.Busy entered = (AttemptResult.Busy) attempt(waiter);
		this.stats.reset();
		AttemptResult.Busy again = (AttemptResult.Busy) attempt(waiter);
		assertThat(this.stats.calls()).containsOnly(Map.entry("evalsha", 1L), Map.entry("time", 1L),
				Map.entry("getrange", 1L), Map.entry("pttl", 1L));
		assertThat(again.holder()).isNotNull()
			.extracting(LockHolder::label)
			.isEqualTo(Objects.requireNonNull(entered.holder()).label());
	}

	@Test
	void processWhoseEntryWasDroppedFromTheQueueEntersAgain() {
		LockKey key = LockKey.of("lock", "dropped");
		RedisLockKeys keys = new RedisLayout("count").keys(key);
		LockContender waiter = process().newContender(key, () -> {
		});
		granted(attempt(process().newContender(key, () -> {
		})));
		attempt(waiter);
		String entry = LockValues.queue(this.admin, keys).get(0);
		// A long queue loses its older half, and its header gets another creation.
		String value = new String(this.admin.get(keys.lock()), StandardCharsets.UTF_8);
		this.admin.setrange(keys.name(), RedisLayout.ID_LENGTH + 1, "1".repeat(RedisLayout.MICROSECOND_LENGTH));
		this.admin.setrange(keys.name(), value.length() - entry.length(), "p".repeat(RedisLayout.ID_LENGTH));
		attempt(waiter);
		assertThat(LockValues.queue(this.admin, keys)).hasSize(2).contains(entry);
	}

	@Test
	void releaseNotifiesTheFirstOfTwoHundredProcessesOnly() {
		RedisLockProvider holder = process();
		List<RedisLockProvider> processes = Stream.generate(this::process).limit(PROCESSES).toList();
		// A late process loses its reservation by a script that the server may not know.
		this.admin.scriptLoad(Script.EXPIRE_RESERVATION.text());
		AtomicInteger rounds = new AtomicInteger();
		await().atMost(Duration.ofSeconds(90)).until(() -> {
			LockKey key = LockKey.of("lock", "crowded-" + rounds.incrementAndGet());
			return notifiesInTheOrderOfArrival(holder, processes, key);
		});
		assertThat(processes).allSatisfy((process) -> assertThat(process.contenders().size()).isZero());
	}

	/** A round in which the machine paused for longer than the grace shows nothing. */
	private boolean notifiesInTheOrderOfArrival(RedisLockProvider holder, List<RedisLockProvider> processes,
			LockKey key) throws InterruptedException {
		BlockingQueue<Integer> notified = new LinkedBlockingQueue<>();
		LockGrant grant = granted(attempt(holder.newContender(key, () -> {
		})));
		List<LockContender> contenders = new ArrayList<>();
		for (int number = 0; number < PROCESSES; number++) {
			int own = number;
			contenders.add(processes.get(number).newContender(key, () -> notified.add(own)));
			assertThat(attempt(contenders.get(number))).isInstanceOf(AttemptResult.Busy.class);
		}
		notified.clear();
		this.stats.reset();
		RedisLockProvider releaser = holder;
		for (int turn = 0; turn < PROCESSES; turn++) {
			long released = System.nanoTime();
			assertThat(resultOf(releaser.release(key, grant.owner(), TIMEOUT))).isEqualTo(ReleaseOutcome.RELEASED);
			Integer first = notified.poll(5, TimeUnit.SECONDS);
			AttemptResult attempt = attempt(contenders.get(turn));
			if (System.nanoTime() - released > GRACE.toNanos()) {
				contenders.forEach((contender) -> resultOf(contender.withdraw(TIMEOUT)));
				return false;
			}
			assertThat(first).isEqualTo(turn);
			grant = granted(attempt);
			releaser = processes.get(turn);
		}
		assertThat(notified).isEmpty();
		assertCostsTwoCommandsEach(this.stats.calls());
		return true;
	}

	private static void assertCostsTwoCommandsEach(Map<String, Long> calls) {
		assertThat(calls).containsEntry("publish", (long) PROCESSES).doesNotContainKey("eval");
		// Two for each hand-over, and at most one that expires its reservation.
		assertThat(CommandStats.ofClients(calls)).isBetween(2L * PROCESSES, 3L * PROCESSES);
	}

	private static AttemptResult attempt(LockContender contender) {
		return resultOf(contender.attempt(OwnerId.random(), LEASE, true, TIMEOUT));
	}

	private static LockGrant granted(AttemptResult attempt) {
		assertThat(attempt).isInstanceOf(AttemptResult.Granted.class);
		return ((AttemptResult.Granted) attempt).grant();
	}

}
