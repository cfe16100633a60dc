package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.testkit.Soak;
import io.distributedlock.zookeeper.session.NodePaths;
import io.distributedlock.zookeeper.session.Session;
import io.distributedlock.zookeeper.session.ZooKeeperLockSettings;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of sessions, watches and the number of requests.
 */
@Tag("full")
class ZooKeeperLockProviderTests {

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final AtomicInteger KEYS = new AtomicInteger();

	private final ZooKeeperServerProcess server = ZooKeeperServerProcess.shared();

	private final ZooKeeperFixture fixture = new ZooKeeperFixture(TestZooKeeper.connectString(),
			Duration.ofSeconds(20));

	private final LockTimer timer = new LockTimer();

	private final List<LockTemplate> templates = new ArrayList<>();

	private final LockKey key = LockKey.of("zookeeper", "key-" + KEYS.incrementAndGet());

	@AfterEach
	void close() {
		this.templates.forEach(LockTemplate::close);
		this.timer.close();
		this.fixture.close();
	}

	private LockTemplate locks(ZooKeeperLockProvider process) {
		LockSettings settings = LockSettings.defaults().withCallTimeout(TIMEOUT);
		LockTemplate template = new LockTemplate(process, settings, this.timer, List.of(), List.of());
		this.templates.add(template);
		return template;
	}

	private static AttemptResult attempt(ZooKeeperLockProvider process, LockKey key, boolean willWait) {
		return attempt(process, key, willWait, () -> {
			// Ignored: the test attempts by itself.
		});
	}

	private static AttemptResult attempt(ZooKeeperLockProvider process, LockKey key, boolean willWait,
			Runnable changed) {
		LockContender contender = process.newContender(key, changed);
		return resultOf(contender.attempt(OwnerId.random(), LEASE, willWait, TIMEOUT), TIMEOUT);
	}

	private static ReleaseOutcome release(ZooKeeperLockProvider process, LockGrant grant) {
		return outcomeOf(process.release(grant.key(), grant.owner(), TIMEOUT), TIMEOUT);
	}

	private static LockGrant acquire(ZooKeeperLockProvider process, LockKey key) {
		return ((AttemptResult.Granted) attempt(process, key, false)).grant();
	}

	/** Asks again until the process has another session. */
	private static <T> T inTheNextSession(Callable<T> call) {
		return await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(LockProviderException.class)
			.until(call, Objects::nonNull);
	}

	private int nodes() {
		return ZooKeeperFixture.call(() -> this.fixture.admin()
			.getZookeeperClient()
			.getZooKeeper()
			.getAllChildrenNumber(this.fixture.root()));
	}

	@Test
	void newKeyCostsTwoRequestsAndLeavesNoNode() {
		LockTemplate locks = locks(this.fixture.newProcess());
		locks.acquire(LockRequest.of(this.key)).close();
		int nodes = nodes();
		int rounds = 200;
		long before = this.server.statistic("zk_packets_received");
		for (int round = 0; round < rounds; round++) {
			locks.acquire(LockRequest.of(LockKey.of("zookeeper", this.key.encoded(), "fresh-" + round))).close();
		}
		long sent = this.server.statistic("zk_packets_received") - before;
		// The server also counts heartbeats, pings and the requests of this test.
		assertThat(sent).isBetween(2L * rounds, 2L * rounds + 20);
		assertThat(nodes()).isEqualTo(nodes);
		assertThat(this.fixture.heldEntries()).isZero();
	}

	@Test
	void waitingLeavesOnlyAContainerThatTheServerRemoves() throws Exception {
		LockTemplate holder = locks(this.fixture.newProcess());
		LockTemplate waiter = locks(this.fixture.newProcess());
		String queue = this.fixture.path(this.key).queue();
		LockLease held = holder.acquire(LockRequest.of(this.key));
		waiter.acquire(LockRequest.of(LockKey.of("zookeeper", "first"))).close();
		long watches = this.server.statistic("zk_watch_count");
		CompletableFuture<LockLease> waiting = waiter.acquireAsync(LockRequest.of(this.key).withWaitTime(PATIENCE));
		await().until(() -> this.fixture.children(queue).size() == 1);
		held.close();
		waiting.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).close();
		await().until(() -> this.fixture.heldEntries() == 0);
		await().until(() -> this.server.statistic("zk_watch_count") == watches);
		await().atMost(Duration.ofSeconds(20)).until(() -> this.fixture.admin().checkExists().forPath(queue) == null);
	}

	@Test
	void releaseNotifiesOnlyTheHeadAndTheQueueIsServedInOrder() {
		serveInOrder(30);
	}

	@Test
	@Soak
	void releaseNotifiesOnlyTheHeadOfTwoHundredWaiters() {
		serveInOrder(200);
	}

	private void serveInOrder(int waiters) {
		ZooKeeperLockProvider holder = this.fixture.newProcess();
		LockGrant grant = acquire(holder, this.key);
		List<Integer> signals = Collections.synchronizedList(new ArrayList<>());
		List<Supplier<AttemptResult>> attempts = new ArrayList<>();
		List<ZooKeeperLockProvider> processes = enqueue(waiters, signals, attempts);
		assertThat(signals).isEmpty();
		ZooKeeperLockProvider present = holder;
		for (int turn = 0; turn < 5; turn++) {
			this.fixture.keepReservationsOf(present);
			assertThat(release(present, grant)).isEqualTo(ReleaseOutcome.RELEASED);
			int head = turn;
			await().pollInterval(Duration.ofMillis(1)).until(() -> signals.contains(head));
			assertThat(signals).containsOnly(head);
			present = processes.get(turn);
			grant = ((AttemptResult.Granted) attempts.get(turn).get()).grant();
			int next = turn + 1;
			await().pollInterval(Duration.ofMillis(1)).until(() -> signals.contains(next));
			assertThat(signals).as("notified as the new head").contains(next).doesNotContain(next + 1);
			assertThat(attempts.get(next).get()).isInstanceOf(AttemptResult.Busy.class);
			signals.clear();
		}
	}

	/** Enqueues new processes, each of which records its number when it is notified. */
	private List<ZooKeeperLockProvider> enqueue(int waiters, List<Integer> signals,
			List<Supplier<AttemptResult>> attempts) {
		List<ZooKeeperLockProvider> processes = new ArrayList<>();
		for (int number = 0; number < waiters; number++) {
			int index = number;
			OwnerId owner = OwnerId.random();
			ZooKeeperLockProvider process = this.fixture.newProcess();
			processes.add(process);
			attempts.add(() -> resultOf(
					process.newContender(this.key, () -> signals.add(index)).attempt(owner, LEASE, true, TIMEOUT)));
			assertThat(attempts.get(index).get()).isInstanceOf(AttemptResult.Busy.class);
		}
		return processes;
	}

	@Test
	void endedSessionLosesItsLocksAndTheNextOneGrants() {
		ZooKeeperLockProvider process = this.fixture.newProcess();
		LockTemplate locks = locks(process);
		LockLease lease = locks.acquire(LockRequest.of(this.key));
		AtomicInteger signals = new AtomicInteger();
		lease.onLost(signals::incrementAndGet);
		this.server.endSession(process.sessions().present().id());
		await().until(() -> !lease.isHeld());
		await().until(() -> signals.get() == 1);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld);
		try (LockLease next = inTheNextSession(() -> locks.acquire(LockRequest.of(this.key)))) {
			assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
			lease.close();
			next.ensureHeld();
			assertThat(attempt(this.fixture.newProcess(), this.key, false)).isInstanceOf(AttemptResult.Busy.class);
		}
	}

	@Test
	void reentryAfterTheSessionHasEndedFails() {
		ZooKeeperLockProvider process = this.fixture.newProcess();
		LockTemplate locks = locks(process);
		LockRequest request = LockRequest.of(this.key);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> locks.execute(request, (outer) -> locks.execute(request, (inner) -> {
				this.server.endSession(process.sessions().present().id());
				await().until(() -> !outer.isHeld());
				return locks.execute(request, (tooLate) -> "result");
			})))
			.satisfies((ex) -> assertThat(ex.error()).isIn(LockError.REENTRY_AFTER_LOSS, LockError.LOST));
	}

	@Test
	void waiterIsEnqueuedAgainAfterItsSessionHasEnded() {
		ZooKeeperLockProvider holder = this.fixture.newProcess();
		LockGrant grant = acquire(holder, this.key);
		ZooKeeperLockProvider waiter = this.fixture.newProcess();
		String queue = this.fixture.path(this.key).queue();
		AtomicInteger signals = new AtomicInteger();
		assertThat(attempt(waiter, this.key, true, signals::incrementAndGet)).isInstanceOf(AttemptResult.Busy.class);
		String entry = this.fixture.children(queue).get(0);
		this.server.endSession(waiter.sessions().present().id());
		await().until(() -> signals.get() > 0);
		assertThat(inTheNextSession(() -> attempt(waiter, this.key, true))).isInstanceOf(AttemptResult.Busy.class);
		assertThat(this.fixture.children(queue)).hasSize(1).doesNotContain(entry);
		this.fixture.keepReservationsOf(holder);
		release(holder, grant);
		assertThat(attempt(holder, this.key, false)).isInstanceOf(AttemptResult.Busy.class);
		assertThat(attempt(waiter, this.key, true)).isInstanceOf(AttemptResult.Granted.class);
	}

	@Test
	void grantNeverBelongsToAnEndedSession() {
		ZooKeeperLockProvider process = this.fixture.newProcess();
		ZooKeeperLockProvider rival = this.fixture.newProcess();
		for (int round = 0; round < 5; round++) {
			Session session = await().until(() -> process.sessions().present(), Objects::nonNull);
			this.server.endSession(session.id());
			LockGrant grant = null;
			while (grant == null) {
				try {
					grant = acquire(process, this.key);
				}
				catch (LockException ex) {
					assertThat(ex.error()).isIn(LockError.STORE_FAILED, LockError.STORE_TIMEOUT);
				}
			}
			assertThat(attempt(rival, this.key, false)).isInstanceOf(AttemptResult.Busy.class);
			assertThat(grant.sessionDeadline().until() - System.nanoTime()).isPositive();
			assertThat(release(process, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		}
	}

	@Test
	void ordersRiseAfterTheParentsWereCreatedAgain() throws Exception {
		ZooKeeperLockProvider process = this.fixture.newProcess();
		long last = 0;
		for (int round = 0; round < 3; round++) {
			LockGrant grant = acquire(process, this.key);
			assertThat(grant.order()).isGreaterThan(last);
			last = grant.order();
			release(process, grant);
			this.fixture.admin().delete().deletingChildrenIfNeeded().forPath(this.fixture.root() + "/locks");
		}
	}

	@Test
	void foreignNodesInTheQueueAreIgnored() throws Exception {
		String queue = this.fixture.path(this.key).queue();
		this.fixture.admin().create().creatingParentsIfNeeded().forPath(queue + "/junk");
		this.fixture.admin().create().withMode(CreateMode.EPHEMERAL).forPath(queue + "/0-not-a-number");
		ZooKeeperLockProvider holder = this.fixture.newProcess();
		ZooKeeperLockProvider waiter = this.fixture.newProcess();
		LockGrant grant = acquire(holder, this.key);
		assertThat(attempt(waiter, this.key, true)).isInstanceOf(AttemptResult.Busy.class);
		this.fixture.keepReservationsOf(holder);
		release(holder, grant);
		assertThat(attempt(holder, this.key, false)).isInstanceOf(AttemptResult.Busy.class);
		assertThat(attempt(waiter, this.key, true)).isInstanceOf(AttemptResult.Granted.class);
	}

	@Test
	void sessionRefusesMorePathsThanAServerCanRead() {
		ZooKeeperLockProvider process = this.fixture.newProcess();
		Session session = process.sessions().awaitReady(Deadline.after(TIMEOUT));
		assertThat(session.tryAllocate((int) Session.MAX_PATH_BYTES - 10)).isTrue();
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> acquire(process, this.key))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.SESSION_FULL))
			.satisfies((ex) -> assertThat(ex.isEffectUnknown()).isFalse());
		session.free((int) Session.MAX_PATH_BYTES - 10);
		acquire(process, this.key);
	}

	@Test
	void tenThousandLocksOfLongKeysFitIntoASession() {
		NodePaths paths = new NodePaths(ZooKeeperLockSettings.DEFAULT_ROOT, "a-long-application-name");
		int length = paths.of(LockKey.of("name", "k".repeat(200))).lockNodeLength();
		assertThat(10_000L * length).isLessThan(Session.MAX_PATH_BYTES);
	}

	@Test
	void releasedPathsMakeRoomAgain() {
		ZooKeeperLockProvider process = this.fixture.newProcess();
		Session session = process.sessions().awaitReady(Deadline.after(TIMEOUT));
		ZooKeeperLockProvider rival = this.fixture.newProcess();
		for (int round = 0; round < 20; round++) {
			LockGrant grant = acquire(process, this.key);
			attempt(rival, this.key, true);
			release(process, grant);
			LockGrant theirs = ((AttemptResult.Granted) attempt(rival, this.key, true)).grant();
			attempt(process, this.key, true);
			resultOf(process.newContender(this.key, () -> {
				// Ignored: the test attempts by itself.
			}).withdraw(TIMEOUT));
			release(rival, theirs);
			await().until(() -> this.fixture.heldEntries() == 0);
		}
		// The last answers may be on their way.
		await().until(() -> session.bytes() == 0);
	}

}
