package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.DirectFieldAccessor;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockInterruptedException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
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
import io.distributedlock.zookeeper.session.NodePaths;
import io.distributedlock.zookeeper.session.Session;
import io.distributedlock.zookeeper.session.ZooKeeperLockSettings;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of changes to the tree by other clients, and of the nodes that remain.
 */
@Tag("full")
class ZooKeeperTreeTests {

	private static final Duration LEASE = Duration.ofSeconds(60);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	/** No test is about a server that answers late. */
	private static final LockSettings SETTINGS = LockSettings.defaults().withCallTimeout(TIMEOUT);

	private static final Duration SESSION = Duration.ofSeconds(5);

	private final ZooKeeperFixture fixture = new ZooKeeperFixture(TestZooKeeper.connectString(), SESSION);

	private final LockTimer timer = new LockTimer();

	private final ZooKeeperLockProvider process = this.fixture.newProcess();

	private final LockTemplate locks = new LockTemplate(this.process, SETTINGS, this.timer, List.of(), List.of());

	private final LockKey key = LockKey.of("tree", "key");

	@AfterEach
	void close() {
		this.locks.close();
		this.timer.close();
		this.fixture.close();
	}

	private static AttemptResult attempt(ZooKeeperLockProvider process, LockKey key, boolean willWait) {
		return attempt(process.newContender(key, () -> {
			// Ignored: the test attempts by itself.
		}), OwnerId.random(), willWait);
	}

	private static AttemptResult attempt(LockContender contender, OwnerId owner, boolean willWait) {
		return resultOf(contender.attempt(owner, LEASE, willWait, TIMEOUT), TIMEOUT);
	}

	private static ReleaseOutcome release(ZooKeeperLockProvider process, LockGrant grant) {
		return outcomeOf(process.release(grant.key(), grant.owner(), TIMEOUT), TIMEOUT);
	}

	@Test
	void locksWorkWhileTheirParentsAreDeleted() throws Exception {
		ZooKeeperLockProvider rival = this.fixture.newProcess();
		AtomicBoolean ended = new AtomicBoolean();
		CountDownLatch deleted = new CountDownLatch(1);
		CompletableFuture<Void> deleting = CompletableFuture.runAsync(() -> {
			while (!ended.get()) {
				delete(NodePaths.parent(this.fixture.path(this.key).lockNode()));
				delete(this.fixture.path(this.key).queue());
				delete(NodePaths.parent(this.fixture.path(this.key).queue()));
				deleted.countDown();
			}
		});
		long last = 0;
		long begun = System.nanoTime();
		try {
			for (int round = 0; round < 100 || isAwaited(deleted, deleting, begun); round++) {
				ZooKeeperLockProvider next = (round % 2 == 0) ? this.process : rival;
				LockGrant grant = granted(next);
				assertThat(grant.order()).isGreaterThan(last);
				last = grant.order();
				attempt((next == rival) ? this.process : rival, this.key, false);
				assertThat(release(next, grant)).isEqualTo(ReleaseOutcome.RELEASED);
			}
		}
		finally {
			ended.set(true);
		}
		deleting.get(10, TimeUnit.SECONDS);
		assertThat(deleted.getCount()).as("deletions to come").isZero();
	}

	/** Whether the other thread has yet to delete all parents, for a minute at most. */
	private static boolean isAwaited(CountDownLatch deleted, CompletableFuture<Void> deleting, long begun) {
		boolean failed = deleting.isDone();
		return deleted.getCount() > 0 && !failed && System.nanoTime() - begun < TimeUnit.MINUTES.toNanos(1);
	}

	@Test
	void processKeepsItsLockAfterAllParentsAreDeleted() {
		LockGrant grant = ((AttemptResult.Granted) attempt(this.process, this.key, false)).grant();
		String lockNode = this.fixture.path(this.key).lockNode();
		deleteAll(this.fixture.root() + "/processes");
		await().during(SESSION).atMost(PATIENCE).until(() -> grant.sessionDeadline().until() - System.nanoTime() > 0);
		assertThat(ZooKeeperFixture.call(() -> this.fixture.admin().checkExists().forPath(lockNode))).isNotNull();
		assertThat(release(this.process, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		deleteAll(this.fixture.root());
		await().until(() -> !this.fixture.children(this.fixture.root() + "/processes").isEmpty());
		this.locks.acquire(LockRequest.of(this.key)).close();
	}

	private void deleteAll(String node) {
		ZooKeeperFixture
			.call(() -> ZKUtil.deleteRecursive(this.fixture.admin().getZookeeperClient().getZooKeeper(), node, 100));
	}

	@Test
	void queuedProcessIsGrantedALockWhoseParentWasDeleted() throws Exception {
		attempt(this.process, this.key, false);
		ZooKeeperLockProvider waiter = this.fixture.newProcess();
		OwnerId owner = OwnerId.random();
		LockContender contender = waiter.newContender(this.key, () -> {
			// Ignored: the test attempts by itself.
		});
		assertThat(attempt(contender, owner, true)).isInstanceOf(AttemptResult.Busy.class);
		String lockNode = this.fixture.path(this.key).lockNode();
		this.fixture.admin()
			.getZookeeperClient()
			.getZooKeeper()
			.multi(List.of(Op.delete(lockNode, -1), Op.delete(NodePaths.parent(lockNode), -1)));
		assertThat(attempt(contender, owner, true)).isInstanceOf(AttemptResult.Granted.class);
	}

	@Test
	void queuedProcessReportsAMissingPermissionAndContendsAgain() {
		attempt(this.process, this.key, false);
		ZooKeeperLockProvider waiter = this.fixture.newProcess();
		assertThat(attempt(waiter, this.key, true)).isInstanceOf(AttemptResult.Busy.class);
		String parent = NodePaths.parent(this.fixture.path(this.key).lockNode());
		permit(parent, ZooDefs.Perms.ALL & ~ZooDefs.Perms.CREATE);
		this.fixture.expire(this.key);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> attempt(waiter, this.key, true))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED));
		permit(parent, ZooDefs.Perms.ALL);
		ZooKeeperLockProvider newcomer = this.fixture.newProcess();
		LockGrant grant = ((AttemptResult.Granted) attempt(newcomer, this.key, false)).grant();
		assertThat(attempt(waiter, this.key, true)).isInstanceOf(AttemptResult.Busy.class);
		this.fixture.keepReservationsOf(newcomer);
		assertThat(release(newcomer, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(attempt(this.fixture.newProcess(), this.key, false)).as("reserved")
			.isInstanceOf(AttemptResult.Busy.class);
		assertThat(attempt(waiter, this.key, true)).isInstanceOf(AttemptResult.Granted.class);
	}

	private void permit(String node, int permissions) {
		ZooKeeperFixture.call(() -> this.fixture.admin()
			.setACL()
			.withACL(List.of(new ACL(permissions, ZooDefs.Ids.ANYONE_ID_UNSAFE)))
			.forPath(node));
	}

	@Test
	void headContendsTheLockNodeOfANewcomer() {
		LockGrant first = ((AttemptResult.Granted) attempt(this.process, this.key, false)).grant();
		ZooKeeperLockProvider waiter = this.fixture.newProcess();
		assertThat(attempt(waiter, this.key, true)).isInstanceOf(AttemptResult.Busy.class);
		ZooKeeperLockProvider newcomer = this.fixture.newProcess();
		// As if the holder's session had ended: nothing is reserved.
		this.fixture.expire(this.key);
		LockGrant second = ((AttemptResult.Granted) attempt(newcomer, this.key, false)).grant();
		assertThat(attempt(waiter, this.key, true)).isInstanceOf(AttemptResult.Busy.class);
		this.fixture.keepReservationsOf(newcomer);
		assertThat(release(newcomer, second)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(attempt(this.fixture.newProcess(), this.key, false)).as("reserved")
			.isInstanceOf(AttemptResult.Busy.class);
		assertThat(attempt(waiter, this.key, true)).isInstanceOf(AttemptResult.Granted.class);
		assertThat(second.order()).isGreaterThan(first.order());
	}

	@Test
	void closedProviderLeavesNoReservation() {
		LockGrant grant = ((AttemptResult.Granted) attempt(this.process, this.key, false)).grant();
		assertThat(attempt(this.fixture.newProcess(), this.key, true)).as("waits, and never attempts again")
			.isInstanceOf(AttemptResult.Busy.class);
		ZooKeeperLockProvider rival = this.fixture.newProcess();
		this.fixture.keepReservationsOf(this.process);
		assertThat(release(this.process, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(attempt(rival, this.key, false)).as("reserved").isInstanceOf(AttemptResult.Busy.class);
		this.process.close();
		await().atMost(PATIENCE).until(() -> attempt(rival, this.key, false) instanceof AttemptResult.Granted);
	}

	@Test
	void closedProviderLeavesNoQueueEntry() {
		attempt(this.process, this.key, false);
		ZooKeeperLockProvider waiter = this.fixture.newProcess();
		assertThat(attempt(waiter, this.key, true)).isInstanceOf(AttemptResult.Busy.class);
		String queue = this.fixture.path(this.key).queue();
		assertThat(this.fixture.children(queue)).hasSize(1);
		waiter.close();
		await().atMost(PATIENCE).until(() -> this.fixture.children(queue).isEmpty());
	}

	@Test
	void repeatedWaitsForALockKeepOneWatch() {
		attempt(this.process, this.key, false);
		ZooKeeperLockProvider waiter = this.fixture.newProcess();
		for (int round = 0; round < 20; round++) {
			LockContender contender = waiter.newContender(this.key, () -> {
				// Ignored: the test attempts by itself.
			});
			assertThat(attempt(contender, OwnerId.random(), true)).isInstanceOf(AttemptResult.Busy.class);
			assertThat(resultOf(contender.withdraw(TIMEOUT))).isEqualTo(ReleaseOutcome.RELEASED);
		}
		DirectFieldAccessor client = new DirectFieldAccessor(
				new DirectFieldAccessor(waiter.sessions().present().zooKeeper()).getPropertyValue("cnxn"));
		Map<?, ?> watches = (Map<?, ?>) new DirectFieldAccessor(client.getPropertyValue("watchManager"))
			.getPropertyValue("dataWatches");
		assertThat((Set<?>) watches.get(this.fixture.path(this.key).lockNode())).hasSize(1);
	}

	@Test
	void clientWithAChrootRemovesItsQueueEntries() {
		ZooKeeperFixture.call(() -> this.fixture.admin().create().orSetData().forPath("/chroot"));
		String servers = TestZooKeeper.connectString() + "/chroot";
		ZooKeeperLockProvider holder = this.fixture.newProcess(servers);
		ZooKeeperLockProvider waiter = this.fixture.newProcess(servers);
		attempt(holder, this.key, false);
		String queue = "/chroot" + this.fixture.path(this.key).queue();
		for (int round = 0; round < 3; round++) {
			LockContender contender = waiter.newContender(this.key, () -> {
				// Ignored: the test attempts by itself.
			});
			assertThat(attempt(contender, OwnerId.random(), true)).isInstanceOf(AttemptResult.Busy.class);
			assertThat(this.fixture.children(queue)).hasSize(1);
			assertThat(resultOf(contender.withdraw(TIMEOUT))).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(this.fixture.children(queue)).isEmpty();
		}
	}

	@Test
	void lockNodeThatForbidsWritesIsAnErrorForAWaiter() {
		attempt(this.process, this.key, false);
		ZooKeeperLockProvider waiter = this.fixture.newProcess();
		permit(this.fixture.path(this.key).lockNode(), ZooDefs.Perms.READ | ZooDefs.Perms.ADMIN);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> attempt(waiter, this.key, true))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED));
		permit(this.fixture.path(this.key).lockNode(), ZooDefs.Perms.ALL);
		assertThat(attempt(waiter, this.key, true)).isInstanceOf(AttemptResult.Busy.class);
	}

	@Test
	void clientWithANamespaceIsSupported() {
		CuratorFramework client = this.fixture.client(TestZooKeeper.connectString());
		ZooKeeperLockProvider process = this.fixture.newProcess(client.usingNamespace("space"));
		LockGrant grant = ((AttemptResult.Granted) attempt(process, this.key, false)).grant();
		assertThat(attempt(this.process, this.key, false)).as("below another root")
			.isInstanceOf(AttemptResult.Granted.class);
		assertThat(release(process, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> new ZooKeeperLockProvider(client,
				new ZooKeeperLockSettings("/space" + this.fixture.root(), "contract-kit", List.of(), null), this.timer))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.SEVERAL_PROVIDERS));
	}

	@Test
	void clientServesOneProviderAtATime() {
		CuratorFramework client = this.fixture.client(TestZooKeeper.connectString());
		ZooKeeperLockProvider first = this.fixture.newProcess(client);
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.fixture.newProcess(client))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.SEVERAL_PROVIDERS));
		first.close();
		ZooKeeperLockProvider second = this.fixture.newProcess(client);
		first.close();
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.fixture.newProcess(client));
		assertThat(attempt(second, this.key, false)).isInstanceOf(AttemptResult.Granted.class);
	}

	/** Attempts until no deletion of a parent interferes. */
	private LockGrant granted(ZooKeeperLockProvider next) {
		long begun = System.nanoTime();
		while (true) {
			try {
				return ((AttemptResult.Granted) attempt(next, this.key, false)).grant();
			}
			catch (LockProviderException ex) {
				assertThat(ex.error()).isEqualTo(LockError.STORE_FAILED);
				assertThat(System.nanoTime() - begun).as("nanoseconds of failures").isLessThan(PATIENCE.toNanos());
			}
		}
	}

	private void delete(String node) {
		ZooKeeperFixture.call(() -> {
			try {
				this.fixture.admin().delete().forPath(node);
			}
			catch (KeeperException.NoNodeException | KeeperException.NotEmptyException ex) {
				return false;
			}
			return true;
		});
	}

	@Test
	void forbiddenParentIsAnErrorAndNeverBusy() {
		LockTemplate rival = this.locks;
		rival.acquire(LockRequest.of(this.key)).close();
		String parent = NodePaths.parent(this.fixture.path(this.key).lockNode());
		permit(parent, ZooDefs.Perms.ADMIN);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> attempt(this.process, this.key, true))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED));
		permit(parent, ZooDefs.Perms.CREATE | ZooDefs.Perms.DELETE | ZooDefs.Perms.ADMIN);
		LockGrant grant = ((AttemptResult.Granted) attempt(this.process, this.key, false)).grant();
		assertThat(attempt(this.fixture.newProcess(), this.key, false)).as("without the permission to read the parent")
			.isInstanceOf(AttemptResult.Busy.class);
		assertThat(release(this.process, grant)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@Test
	void unreadableQueueIsAnErrorOnlyForAWaiter() throws Exception {
		String queue = this.fixture.path(this.key).queue();
		this.fixture.admin().create().creatingParentsIfNeeded().forPath(queue);
		permit(queue, ZooDefs.Perms.ADMIN);
		LockGrant grant = ((AttemptResult.Granted) attempt(this.process, this.key, false)).grant();
		ZooKeeperLockProvider waiter = this.fixture.newProcess();
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> attempt(waiter, this.key, true))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED));
		assertThat(release(this.process, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(attempt(waiter, this.key, false)).isInstanceOf(AttemptResult.Granted.class);
	}

	@Test
	void foreignNodesNeitherHoldNorBlockOtherLocks() throws Exception {
		String bucket = NodePaths.parent(this.fixture.path(this.key).lockNode());
		this.fixture.admin().create().creatingParentsIfNeeded().forPath(bucket + "/junk with blanks \u00e4");
		this.fixture.admin().create().creatingParentsIfNeeded().forPath(this.fixture.root() + "/queues/zz/junk/junk");
		this.locks.acquire(LockRequest.of(this.key)).close();
		this.fixture.admin()
			.create()
			.forPath(this.fixture.path(this.key).lockNode(), "junk".getBytes(StandardCharsets.UTF_8));
		assertThat(attempt(this.process, this.key, false)).as("a foreign node").isInstanceOf(AttemptResult.Busy.class);
		this.fixture.expire(this.key);
		this.locks.acquire(LockRequest.of(this.key)).close();
	}

	@Test
	void keyMayHaveAMegabyte() {
		LockKey first = LockKey.of("tree", "k".repeat(1 << 20) + "1");
		LockKey second = LockKey.of("tree", "k".repeat(1 << 20) + "2");
		try (LockLease lease = this.locks.acquire(LockRequest.of(first));
				LockLease other = this.locks.acquire(LockRequest.of(second))) {
			assertThat(lease.isHeld() && other.isHeld()).isTrue();
			assertThat(attempt(this.fixture.newProcess(), first, false)).isInstanceOf(AttemptResult.Busy.class);
		}
	}

	@Test
	void blockingCallbackDelaysNoOtherLock() {
		CountDownLatch blocked = new CountDownLatch(1);
		AtomicInteger signals = new AtomicInteger();
		LockLease first = this.locks.acquire(LockRequest.of(this.key));
		LockLease second = this.locks.acquire(LockRequest.of(LockKey.of("tree", "second")));
		try {
			first.onLost(() -> await().forever().until(() -> blocked.getCount() == 0));
			second.onLost(signals::incrementAndGet);
			ZooKeeperServerProcess.shared().endSession(this.process.sessions().present().id());
			await().until(() -> signals.get() == 1);
			// The next session may take longer than a call.
			await().atMost(PATIENCE).ignoreExceptionsInstanceOf(LockProviderException.class).until(() -> {
				this.locks.acquire(LockRequest.of(this.key).withWaitTime(TIMEOUT)).close();
				return true;
			});
		}
		finally {
			blocked.countDown();
		}
	}

	@Test
	void manyKeysAndInterruptsLeaveNoNodes() throws Exception {
		assertNoNodesRemain(1000, 200);
	}

	@Test
	@Soak
	void hundredThousandKeysAndManyInterruptsLeaveNoNodes() throws Exception {
		assertNoNodesRemain(100_000, 10_000);
	}

	private void assertNoNodesRemain(int keys, int interrupts) throws Exception {
		LockTimer rivalTimer = new LockTimer();
		LockTemplate rival = new LockTemplate(this.fixture.newProcess(), SETTINGS, rivalTimer, List.of(), List.of());
		rival.acquire(LockRequest.of(this.key)).close();
		long watches = ZooKeeperServerProcess.shared().statistic("zk_watch_count");
		for (int number = 0; number < keys; number++) {
			this.locks.acquire(LockRequest.of(LockKey.of("tree", "fresh-" + number))).close();
		}
		interruptWaiters(rival, interrupts);
		await().atMost(Duration.ofSeconds(20)).until(() -> this.fixture.heldEntries() == 0);
		for (ZooKeeperLockProvider each : this.fixture.processes()) {
			await().atMost(PATIENCE).until(() -> each.undecided().size() == 0 && holdsNothing(each));
		}
		await().atMost(PATIENCE).until(() -> ZooKeeperServerProcess.shared().statistic("zk_watch_count") == watches);
		rival.close();
		rivalTimer.close();
		await().atMost(Duration.ofSeconds(30)).until(() -> queueContainers() == 0);
	}

	private static boolean holdsNothing(ZooKeeperLockProvider process) {
		Session session = process.sessions().present();
		return session != null && session.bytes() == 0;
	}

	private void interruptWaiters(LockTemplate rival, int interrupts) throws InterruptedException {
		Random random = new Random(5);
		for (int round = 0; round < interrupts; round++) {
			LockRequest request = LockRequest.of(LockKey.of("tree", "interrupted-" + round % 50))
				.withWaitTime(Duration.ofMillis(10));
			Thread thread = new Thread(() -> acquire(request));
			try (LockLease lease = (round % 2 == 0) ? rival.tryAcquire(request) : null) {
				thread.start();
				thread.join(random.nextInt(3), 1 + random.nextInt(900_000));
				thread.interrupt();
			}
			thread.join();
		}
	}

	private void acquire(LockRequest request) {
		try (LockLease lease = this.locks.tryAcquire(request)) {
			assertThat(lease == null || lease.keys().size() == 1).isTrue();
		}
		catch (LockInterruptedException ex) {
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
		}
		catch (LockException ex) {
			assertThat(ex).isNull();
		}
	}

	private long queueContainers() {
		return this.fixture.children(this.fixture.root() + "/queues")
			.stream()
			.mapToLong((bucket) -> this.fixture.children(this.fixture.root() + "/queues/" + bucket).size())
			.sum();
	}

}
