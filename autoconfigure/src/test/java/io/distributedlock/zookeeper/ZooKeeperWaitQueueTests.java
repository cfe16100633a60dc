package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
import io.distributedlock.testkit.Soak;
import io.distributedlock.zookeeper.node.WaitQueueOrder;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of the order in a wait queue, and of what waiting and hand-overs cost the
 * servers. They count all transactions of a server, so no other test uses it.
 */
class ZooKeeperWaitQueueTests {

	private static final Duration LEASE = Duration.ofMinutes(10);

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final ZooKeeperServerProcess SERVER = ZooKeeperServerProcess.withoutReaper();

	private final ZooKeeperFixture fixture = new ZooKeeperFixture("127.0.0.1:" + SERVER.port(),
			ZooKeeperFixture.SESSION);

	private final List<AutoCloseable> opened = new ArrayList<>();

	private final LockKey key = LockKey.of("queue", "key");

	@AfterAll
	static void stopServer() {
		SERVER.kill();
	}

	@AfterEach
	void close() throws Exception {
		for (AutoCloseable each : this.opened) {
			each.close();
		}
		this.fixture.close();
	}

	@Test
	void processThatWasPassedOverKeepsItsPlace() {
		Contestant holder = new Contestant();
		Contestant paused = new Contestant();
		Contestant second = new Contestant();
		Contestant third = new Contestant();
		holder.acquire();
		paused.await();
		second.await();
		holder.release();
		// The paused process does not use its reservation.
		await().atMost(PATIENCE).until(() -> second.attempt() instanceof AttemptResult.Granted);
		third.await();
		paused.await();
		List<String> queue = WaitQueueOrder.sort(this.fixture.children(this.fixture.path(this.key).queue()));
		assertThat(queue).hasSize(2);
		assertThat(queue.get(0)).startsWith(WaitQueueOrder.prefix(paused.process.sessions().present().id()));
		this.fixture.keepReservationsOf(second.process);
		second.release();
		// Was the head before the paused process came back.
		assertThat(third.attempt()).isInstanceOf(AttemptResult.Busy.class);
		assertThat(paused.attempt()).isInstanceOf(AttemptResult.Granted.class);
	}

	/** It becomes the head while it pauses. */
	@Test
	void secondProcessThatWasPassedOverKeepsItsPlace() {
		Contestant holder = new Contestant();
		Contestant first = new Contestant();
		Contestant paused = new Contestant();
		Contestant third = new Contestant();
		Contestant newcomer = new Contestant();
		holder.acquire();
		first.await();
		paused.await();
		third.await();
		holder.release();
		await().atMost(PATIENCE).until(() -> first.attempt() instanceof AttemptResult.Granted);
		first.release();
		await().atMost(PATIENCE).until(() -> third.attempt() instanceof AttemptResult.Granted);
		paused.await();
		newcomer.await();
		List<String> queue = WaitQueueOrder.sort(this.fixture.children(this.fixture.path(this.key).queue()));
		assertThat(queue).hasSize(2);
		assertThat(queue.get(0)).startsWith(WaitQueueOrder.prefix(paused.process.sessions().present().id()));
	}

	@Test
	void placeOfAQueueThatWasRemovedIsAtTheEnd() {
		Contestant holder = new Contestant();
		Contestant paused = new Contestant();
		holder.acquire();
		paused.await();
		holder.release();
		String queue = this.fixture.path(this.key).queue();
		await().atMost(PATIENCE).until(() -> this.fixture.children(queue).isEmpty());
		ZooKeeperFixture.call(() -> {
			try {
				return this.fixture.admin().delete().forPath(queue);
			}
			catch (KeeperException.NoNodeException ex) {
				return null;
			}
		});
		holder.acquire();
		Contestant newcomer = new Contestant();
		newcomer.await();
		paused.await();
		List<String> entries = WaitQueueOrder.sort(this.fixture.children(queue));
		assertThat(entries).hasSize(2);
		assertThat(entries.get(0)).startsWith(WaitQueueOrder.prefix(newcomer.process.sessions().present().id()));
	}

	/** The holder reserves the lock, and the head replaces its node. */
	@ParameterizedTest
	@ValueSource(ints = { 2, 12 })
	void handOverCostsTwoTransactionsHoweverManyProcessesWait(int waiting) {
		assertHandOversCostTwoTransactions(waiting);
	}

	@Test
	@Soak
	void handOverCostsTwoTransactionsWhileTwoHundredProcessesWait() {
		assertHandOversCostTwoTransactions(200);
	}

	private void assertHandOversCostTwoTransactions(int waiting) {
		List<Contestant> all = new ArrayList<>();
		for (int number = 0; number <= waiting; number++) {
			all.add(new Contestant());
		}
		all.get(0).acquire();
		all.subList(1, all.size()).forEach(Contestant::await);
		for (int next = 1; next <= waiting; next++) {
			Contestant holder = all.get(next - 1);
			Contestant head = all.get(next);
			if (next > 1 && next < 4) {
				this.fixture.keepReservationsOf(holder.process);
				long heartbeats = heartbeats();
				long before = lastTransaction();
				holder.release();
				assertThat(head.attempt()).isInstanceOf(AttemptResult.Granted.class);
				long after = lastTransaction();
				assertThat(after - before - 1 - (heartbeats() - heartbeats)).as("transactions").isLessThanOrEqualTo(2);
			}
			else {
				holder.release();
				await().atMost(PATIENCE).until(() -> head.attempt() instanceof AttemptResult.Granted);
			}
		}
	}

	/**
	 * The entry, the queue and the predecessor; the queue again and the lock node; the
	 * transaction; the reservation; and the number of entries, because the head has not
	 * read of the former holder, which enters the queue after it.
	 */
	@Test
	void grantCostsEightRequestsWhileTwoOthersContend() {
		Deque<Contestant> turns = new ArrayDeque<>(List.of(new Contestant(), new Contestant(), new Contestant()));
		turns.getFirst().acquire();
		turns.stream().skip(1).forEach(Contestant::await);
		turns.forEach((each) -> this.fixture.keepReservationsOf(each.process));
		await().atMost(TIMEOUT).until(() -> requestsOfAGrant(turns), (requests) -> requests == 8);
	}

	/** Lets the holder release the lock, the next one acquire it, and all wait again. */
	private long requestsOfAGrant(Deque<Contestant> turns) {
		// Counts itself.
		long before = SERVER.statistic("zk_packets_received") + 1;
		Contestant holder = turns.remove();
		holder.release();
		turns.getFirst().attemptWhenNotified(AttemptResult.Granted.class);
		turns.stream().skip(1).limit(1).forEach((next) -> next.attemptWhenNotified(AttemptResult.Busy.class));
		holder.await();
		turns.add(holder);
		return SERVER.statistic("zk_packets_received") - before;
	}

	@Test
	void lockIsFreeAfterTheOthersThatWereSeenHaveLeft() {
		Deque<Contestant> turns = new ArrayDeque<>(
				List.of(new Contestant(), new Contestant(), new Contestant(), new Contestant()));
		turns.getFirst().acquire();
		turns.stream().skip(1).forEach(Contestant::await);
		requestsOfAGrant(turns);
		requestsOfAGrant(turns);
		turns.stream().skip(1).forEach(Contestant::leave);
		turns.getFirst().release();
		Contestant newcomer = new Contestant();
		await().atMost(PATIENCE).until(() -> newcomer.attempt(false) instanceof AttemptResult.Granted);
	}

	@Test
	void waitingProcessesWriteNothingButHeartbeats() throws Exception {
		assertWaitingWritesNothing(8, Duration.ofSeconds(3));
	}

	@Test
	@Soak
	void twoHundredWaitingProcessesWriteNothingButHeartbeats() throws Exception {
		assertWaitingWritesNothing(200, Duration.ofSeconds(10));
	}

	private void assertWaitingWritesNothing(int waiting, Duration rest) throws Exception {
		try (LockLease lease = locks().acquire(LockRequest.of(this.key).withLease(LEASE))) {
			List<Thread> threads = new ArrayList<>();
			CountDownLatch ended = new CountDownLatch(waiting);
			for (int number = 0; number < waiting; number++) {
				LockTemplate locks = locks();
				threads.add(new Thread(() -> {
					locks.acquire(LockRequest.of(this.key).withWaitTime(LEASE)).close();
					ended.countDown();
				}));
			}
			threads.forEach(Thread::start);
			String queue = this.fixture.path(this.key).queue();
			await().atMost(PATIENCE).until(() -> this.fixture.children(queue).size() == waiting);
			long reads = SERVER.statistic("zk_packets_received");
			// The last process may still contend the lock node in the first of these
			// times.
			await().atMost(rest.multipliedBy(10).plus(PATIENCE)).until(() -> {
				long heartbeats = heartbeats();
				long before = lastTransaction();
				await().pollDelay(rest).atMost(rest.plus(PATIENCE)).until(() -> true);
				long transactions = lastTransaction() - before - 1;
				return transactions <= heartbeats() - heartbeats;
			});
			assertThat(SERVER.statistic("zk_packets_received") - reads).as("packets: each process polls")
				.isGreaterThan(waiting);
			lease.close();
			ended.await();
		}
	}

	private LockTemplate locks() {
		LockTimer timer = new LockTimer();
		LockTemplate locks = new LockTemplate(this.fixture.newProcess(),
				LockSettings.defaults().withCallTimeout(TIMEOUT), timer, List.of(), List.of());
		this.opened.add(locks);
		this.opened.add(timer);
		return locks;
	}

	/** Returns the number of heartbeats of all processes. */
	private long heartbeats() {
		String processes = this.fixture.root() + "/processes";
		CuratorFramework admin = this.fixture.admin();
		return this.fixture.children(processes)
			.stream()
			.mapToLong((process) -> ZooKeeperFixture
				.call(() -> admin.checkExists().forPath(processes + "/" + process).getVersion()))
			.sum();
	}

	/**
	 * Returns the number of the server's last transaction, which is that of this call.
	 */
	private long lastTransaction() {
		return ZooKeeperFixture
			.call(() -> this.fixture.admin().setData().forPath(this.fixture.root() + "/locks").getMzxid());
	}

	/** A process that attempts when the test says so. */
	private final class Contestant {

		private final ZooKeeperLockProvider process = ZooKeeperWaitQueueTests.this.fixture.newProcess();

		private final Semaphore notifications = new Semaphore(0);

		private final LockContender contender = this.process.newContender(ZooKeeperWaitQueueTests.this.key,
				this.notifications::release);

		private LockGrant grant;

		private void acquire() {
			assertThat(attempt()).isInstanceOf(AttemptResult.Granted.class);
		}

		private void await() {
			assertThat(attempt()).isInstanceOf(AttemptResult.Busy.class);
		}

		private void leave() {
			outcomeOf(this.contender.withdraw(TIMEOUT), TIMEOUT);
		}

		private void attemptWhenNotified(Class<? extends AttemptResult> expected) {
			ZooKeeperFixture.call(() -> this.notifications.tryAcquire(PATIENCE.toSeconds(), TimeUnit.SECONDS));
			this.notifications.drainPermits();
			assertThat(attempt()).isInstanceOf(expected);
		}

		private AttemptResult attempt() {
			return attempt(true);
		}

		private AttemptResult attempt(boolean willWait) {
			AttemptResult result = resultOf(this.contender.attempt(OwnerId.random(), LEASE, willWait, TIMEOUT),
					TIMEOUT);
			if (result instanceof AttemptResult.Granted granted) {
				this.grant = granted.grant();
			}
			return result;
		}

		private void release() {
			assertThat(outcomeOf(this.process.release(this.grant.key(), this.grant.owner(), TIMEOUT), TIMEOUT))
				.isEqualTo(ReleaseOutcome.RELEASED);
		}

	}

}
