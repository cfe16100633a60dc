package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
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
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.DirectFieldAccessor;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockInterruptedException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.support.LockSettings;
import io.distributedlock.support.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What others do to the tree, and what is left in it.
 */
class ZooKeeperTreeTests {

	private static final Duration LEASE = Duration.ofSeconds(60);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final Duration SESSION = Duration.ofSeconds(5);

	private final ZooKeeperFixture fixture = new ZooKeeperFixture(TestZooKeeper.connectString(), SESSION);

	private final LockTimer timer = new LockTimer();

	private final ZooKeeperLockProvider process = this.fixture.newProcess();

	private final LockTemplate locks = new LockTemplate(this.process, LockSettings.defaults(), this.timer, List.of(),
			List.of());

	private final LockKey key = LockKey.of("tree", "key");

	@AfterEach
	void close() {
		this.locks.close();
		this.timer.close();
		this.fixture.close();
	}

	private static AttemptResult attempt(ZooKeeperLockProvider process, LockKey key, boolean willWait) {
		return process.enter(key, () -> {
			// Nobody waits for the signal.
		}).attempt(OwnerId.random(), LEASE, willWait, TIMEOUT);
	}

	@Test
	void locksGoOnThoughTheirParentsAreDeletedAgainAndAgain() throws Exception {
		ZooKeeperLockProvider rival = this.fixture.newProcess();
		AtomicBoolean ended = new AtomicBoolean();
		CompletableFuture<Integer> deleting = CompletableFuture.supplyAsync(() -> {
			int rounds = 0;
			for (; !ended.get(); rounds++) {
				delete(LockPaths.parent(this.fixture.path(this.key).door()));
				delete(this.fixture.path(this.key).line());
				delete(LockPaths.parent(this.fixture.path(this.key).line()));
			}
			return rounds;
		});
		long last = 0;
		try {
			for (int round = 0; round < 100; round++) {
				ZooKeeperLockProvider next = (round % 2 == 0) ? this.process : rival;
				LockGrant grant = granted(next);
				assertThat(grant.order()).isGreaterThan(last);
				last = grant.order();
				attempt((next == rival) ? this.process : rival, this.key, false);
				assertThat(next.release(this.key, grant.owner(), TIMEOUT)).isEqualTo(ReleaseOutcome.RELEASED);
			}
		}
		finally {
			ended.set(true);
		}
		assertThat(deleting.get()).isPositive();
	}

	@Test
	void processGoesOnAndHoldsItsLockThoughAllParentsAreDeleted() {
		LockGrant grant = ((AttemptResult.Granted) attempt(this.process, this.key, false)).grant();
		String door = this.fixture.path(this.key).door();
		deleteAll(this.fixture.root() + "/processes");
		await().during(SESSION)
			.atMost(SESSION.multipliedBy(2))
			.until(() -> grant.term().until() - System.nanoTime() > 0);
		assertThat(ZooKeeperFixture.call(() -> this.fixture.admin().checkExists().forPath(door))).isNotNull();
		assertThat(this.process.release(this.key, grant.owner(), TIMEOUT)).isEqualTo(ReleaseOutcome.RELEASED);
		deleteAll(this.fixture.root());
		await().until(() -> !this.fixture.children(this.fixture.root() + "/processes").isEmpty());
		this.locks.acquire(LockRequest.of(this.key)).close();
	}

	private void deleteAll(String node) {
		ZooKeeperFixture
			.call(() -> ZKUtil.deleteRecursive(this.fixture.admin().getZookeeperClient().getZooKeeper(), node, 100));
	}

	@Test
	void whoStandsInLineIsGrantedALockWhoseParentWasDeletedWithIt() throws Exception {
		attempt(this.process, this.key, false);
		ZooKeeperLockProvider waiter = this.fixture.newProcess();
		OwnerId owner = OwnerId.random();
		LockContender contender = waiter.enter(this.key, () -> {
			// Asks again by itself.
		});
		assertThat(contender.attempt(owner, LEASE, true, TIMEOUT)).isInstanceOf(AttemptResult.Busy.class);
		String door = this.fixture.path(this.key).door();
		this.fixture.admin()
			.getZookeeperClient()
			.getZooKeeper()
			.multi(List.of(Op.delete(door, -1), Op.delete(LockPaths.parent(door), -1)));
		assertThat(contender.attempt(owner, LEASE, true, TIMEOUT)).isInstanceOf(AttemptResult.Granted.class);
	}

	@Test
	void whoStandsInLineIsToldOfAMissingRightAndMarksTheDoorOfWhoComesAfterwards() {
		attempt(this.process, this.key, false);
		ZooKeeperLockProvider waiter = this.fixture.newProcess();
		assertThat(attempt(waiter, this.key, true)).isInstanceOf(AttemptResult.Busy.class);
		String parent = LockPaths.parent(this.fixture.path(this.key).door());
		mayBeUsed(parent, ZooDefs.Perms.ALL & ~ZooDefs.Perms.CREATE);
		this.fixture.expire(this.key);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> attempt(waiter, this.key, true))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED));
		mayBeUsed(parent, ZooDefs.Perms.ALL);
		ZooKeeperLockProvider newcomer = this.fixture.newProcess();
		LockGrant grant = ((AttemptResult.Granted) attempt(newcomer, this.key, false)).grant();
		assertThat(attempt(waiter, this.key, true)).isInstanceOf(AttemptResult.Busy.class);
		assertThat(newcomer.release(this.key, grant.owner(), TIMEOUT)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(attempt(newcomer, this.key, false)).as("reserved").isInstanceOf(AttemptResult.Busy.class);
		assertThat(attempt(waiter, this.key, true)).isInstanceOf(AttemptResult.Granted.class);
	}

	private void mayBeUsed(String node, int permissions) {
		ZooKeeperFixture.call(() -> this.fixture.admin()
			.setACL()
			.withACL(List.of(new ACL(permissions, ZooDefs.Ids.ANYONE_ID_UNSAFE)))
			.forPath(node));
	}

	@Test
	void headMarksTheDoorOfWhoCameBetween() {
		LockGrant first = ((AttemptResult.Granted) attempt(this.process, this.key, false)).grant();
		ZooKeeperLockProvider waiter = this.fixture.newProcess();
		assertThat(attempt(waiter, this.key, true)).isInstanceOf(AttemptResult.Busy.class);
		ZooKeeperLockProvider newcomer = this.fixture.newProcess();
		// As if the holder's session had ended: nothing is reserved.
		this.fixture.expire(this.key);
		LockGrant second = ((AttemptResult.Granted) attempt(newcomer, this.key, false)).grant();
		assertThat(attempt(waiter, this.key, true)).isInstanceOf(AttemptResult.Busy.class);
		assertThat(newcomer.release(this.key, second.owner(), TIMEOUT)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(attempt(newcomer, this.key, false)).as("reserved").isInstanceOf(AttemptResult.Busy.class);
		assertThat(attempt(waiter, this.key, true)).isInstanceOf(AttemptResult.Granted.class);
		assertThat(second.order()).isGreaterThan(first.order());
	}

	@Test
	void lockThatIsWaitedForAgainAndAgainIsWatchedOnce() {
		attempt(this.process, this.key, false);
		ZooKeeperLockProvider waiter = this.fixture.newProcess();
		for (int round = 0; round < 20; round++) {
			LockContender contender = waiter.enter(this.key, () -> {
				// Nobody waits for the signal.
			});
			assertThat(contender.attempt(OwnerId.random(), LEASE, true, TIMEOUT))
				.isInstanceOf(AttemptResult.Busy.class);
			assertThat(contender.withdraw(TIMEOUT)).isEqualTo(ReleaseOutcome.RELEASED);
		}
		DirectFieldAccessor client = new DirectFieldAccessor(
				new DirectFieldAccessor(waiter.sessions().present().zooKeeper()).getPropertyValue("cnxn"));
		Map<?, ?> watches = (Map<?, ?>) new DirectFieldAccessor(client.getPropertyValue("watchManager"))
			.getPropertyValue("dataWatches");
		assertThat((Set<?>) watches.get(this.fixture.path(this.key).door())).hasSize(1);
	}

	@Test
	void clientBelowARootOfItsOwnLeavesItsPlacesInLine() {
		ZooKeeperFixture.call(() -> this.fixture.admin().create().orSetData().forPath("/chroot"));
		String servers = TestZooKeeper.connectString() + "/chroot";
		ZooKeeperLockProvider holder = this.fixture.newProcess(servers);
		ZooKeeperLockProvider waiter = this.fixture.newProcess(servers);
		attempt(holder, this.key, false);
		String line = "/chroot" + this.fixture.path(this.key).line();
		for (int round = 0; round < 3; round++) {
			LockContender contender = waiter.enter(this.key, () -> {
				// Nobody waits for the signal.
			});
			assertThat(contender.attempt(OwnerId.random(), LEASE, true, TIMEOUT))
				.isInstanceOf(AttemptResult.Busy.class);
			assertThat(this.fixture.children(line)).hasSize(1);
			assertThat(contender.withdraw(TIMEOUT)).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(this.fixture.children(line)).isEmpty();
		}
	}

	@Test
	void doorThatMayNotBeMarkedIsAnErrorForWhoWaits() {
		attempt(this.process, this.key, false);
		ZooKeeperLockProvider waiter = this.fixture.newProcess();
		mayBeUsed(this.fixture.path(this.key).door(), ZooDefs.Perms.READ | ZooDefs.Perms.ADMIN);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> attempt(waiter, this.key, true))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED));
		mayBeUsed(this.fixture.path(this.key).door(), ZooDefs.Perms.ALL);
		assertThat(attempt(waiter, this.key, true)).isInstanceOf(AttemptResult.Busy.class);
	}

	@Test
	void clientWithANamespaceServesToo() {
		CuratorFramework client = this.fixture.client(TestZooKeeper.connectString());
		ZooKeeperLockProvider process = this.fixture.newProcess(client.usingNamespace("space"));
		LockGrant grant = ((AttemptResult.Granted) attempt(process, this.key, false)).grant();
		assertThat(attempt(this.process, this.key, false)).as("below another node")
			.isInstanceOf(AttemptResult.Granted.class);
		assertThat(process.release(this.key, grant.owner(), TIMEOUT)).isEqualTo(ReleaseOutcome.RELEASED);
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

	/** Who is faster than the deletion of the parent gets it. */
	private LockGrant granted(ZooKeeperLockProvider next) {
		while (true) {
			try {
				return ((AttemptResult.Granted) attempt(next, this.key, false)).grant();
			}
			catch (LockProviderException ex) {
				assertThat(ex.error()).isEqualTo(LockError.STORE_FAILED);
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
	void parentThatMayNotBeUsedIsAnErrorAndNeverBusy() {
		LockTemplate rival = this.locks;
		rival.acquire(LockRequest.of(this.key)).close();
		String parent = LockPaths.parent(this.fixture.path(this.key).door());
		mayBeUsed(parent, ZooDefs.Perms.ADMIN);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> attempt(this.process, this.key, true))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED));
		mayBeUsed(parent, ZooDefs.Perms.CREATE | ZooDefs.Perms.DELETE | ZooDefs.Perms.ADMIN);
		LockGrant grant = ((AttemptResult.Granted) attempt(this.process, this.key, false)).grant();
		assertThat(attempt(this.fixture.newProcess(), this.key, false)).as("without the right to read the parent")
			.isInstanceOf(AttemptResult.Busy.class);
		assertThat(this.process.release(this.key, grant.owner(), TIMEOUT)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@Test
	void lineThatMayNotBeReadIsAnErrorForWhoWaitsAlone() throws Exception {
		String line = this.fixture.path(this.key).line();
		this.fixture.admin().create().creatingParentsIfNeeded().forPath(line);
		mayBeUsed(line, ZooDefs.Perms.ADMIN);
		LockGrant grant = ((AttemptResult.Granted) attempt(this.process, this.key, false)).grant();
		ZooKeeperLockProvider waiter = this.fixture.newProcess();
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> attempt(waiter, this.key, true))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED));
		assertThat(this.process.release(this.key, grant.owner(), TIMEOUT)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(attempt(waiter, this.key, false)).isInstanceOf(AttemptResult.Granted.class);
	}

	@Test
	void junkBesideTheDoorsAndInTheirPlaceIsNobodysLock() throws Exception {
		String bucket = LockPaths.parent(this.fixture.path(this.key).door());
		this.fixture.admin().create().creatingParentsIfNeeded().forPath(bucket + "/junk with blanks \u00e4");
		this.fixture.admin().create().creatingParentsIfNeeded().forPath(this.fixture.root() + "/lines/zz/junk/junk");
		this.locks.acquire(LockRequest.of(this.key)).close();
		this.fixture.admin()
			.create()
			.forPath(this.fixture.path(this.key).door(), "junk".getBytes(StandardCharsets.UTF_8));
		assertThat(attempt(this.process, this.key, false)).as("somebody's node").isInstanceOf(AttemptResult.Busy.class);
		this.fixture.expire(this.key);
		this.locks.acquire(LockRequest.of(this.key)).close();
	}

	@Test
	void keyOfAMegabyteIsAKey() {
		LockKey first = LockKey.of("tree", "k".repeat(1 << 20) + "1");
		LockKey second = LockKey.of("tree", "k".repeat(1 << 20) + "2");
		try (LockLease lease = this.locks.acquire(LockRequest.of(first));
				LockLease other = this.locks.acquire(LockRequest.of(second))) {
			assertThat(lease.isHeld() && other.isHeld()).isTrue();
			assertThat(attempt(this.fixture.newProcess(), first, false)).isInstanceOf(AttemptResult.Busy.class);
		}
	}

	@Test
	void callbackThatBlocksHoldsNoOtherLockUp() {
		CountDownLatch blocked = new CountDownLatch(1);
		AtomicInteger told = new AtomicInteger();
		LockLease first = this.locks.acquire(LockRequest.of(this.key));
		LockLease second = this.locks.acquire(LockRequest.of(LockKey.of("tree", "second")));
		try {
			first.onLost(() -> await().forever().until(() -> blocked.getCount() == 0));
			second.onLost(told::incrementAndGet);
			ZooKeeperServerProcess.shared().endSession(this.process.sessions().present().id());
			await().until(() -> told.get() == 1);
			this.locks.acquire(LockRequest.of(this.key).withWaitTime(TIMEOUT)).close();
		}
		finally {
			blocked.countDown();
		}
	}

	@Test
	void manyKeysAndInterruptsLeaveNothingBehind() throws Exception {
		leaveNothingBehind(10_000, 1000);
	}

	@Test
	@Tag("soak")
	@Timeout(1800)
	void hundredThousandKeysAndTenThousandInterruptsLeaveNothingBehind() throws Exception {
		leaveNothingBehind(100_000, 10_000);
	}

	private void leaveNothingBehind(int keys, int interrupts) throws Exception {
		LockTimer rivalTimer = new LockTimer();
		LockTemplate rival = new LockTemplate(this.fixture.newProcess(), LockSettings.defaults(), rivalTimer, List.of(),
				List.of());
		rival.acquire(LockRequest.of(this.key)).close();
		long watches = ZooKeeperServerProcess.shared().statistic("zk_watch_count");
		for (int number = 0; number < keys; number++) {
			this.locks.acquire(LockRequest.of(LockKey.of("tree", "fresh-" + number))).close();
		}
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
		await().atMost(Duration.ofSeconds(20)).until(() -> this.fixture.heldEntries() == 0);
		for (ZooKeeperLockProvider each : this.fixture.processes()) {
			await().until(() -> each.leftovers().size() == 0 && each.sessions().present().bytes() == 0);
		}
		await().until(() -> ZooKeeperServerProcess.shared().statistic("zk_watch_count") == watches);
		rival.close();
		rivalTimer.close();
		await().atMost(Duration.ofSeconds(30)).until(() -> lines() == 0);
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

	private long lines() {
		return this.fixture.children(this.fixture.root() + "/lines")
			.stream()
			.mapToLong((bucket) -> this.fixture.children(this.fixture.root() + "/lines/" + bucket).size())
			.sum();
	}

}
