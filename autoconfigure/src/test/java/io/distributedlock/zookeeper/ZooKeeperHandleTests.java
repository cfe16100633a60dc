package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.utils.ZookeeperFactory;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.testkit.StoreFaults.Command;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.TimeBounds;
import io.distributedlock.testkit.WireFault;
import io.distributedlock.testkit.WireFault.Effect;
import io.distributedlock.zookeeper.session.Session;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of handles that the client itself closes or replaces.
 */
@Tag("full")
class ZooKeeperHandleTests {

	/** No heartbeat would notice the end within a test. */
	private static final Duration SESSION = Duration.ofSeconds(60);

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final ZooKeeperFixture fixture = new ZooKeeperFixture(TestZooKeeper.connectString(), SESSION);

	private final LockTimer timer = new LockTimer();

	private final LockKey key = LockKey.of("handle", "key");

	@AfterEach
	void close() {
		this.timer.close();
		this.fixture.close();
	}

	private LockOperations locks(ZooKeeperLockProvider process) {
		return new LockTemplate(process, LockSettings.defaults(), this.timer, List.of(), List.of());
	}

	private ZooKeeperLockProvider processOf(CuratorFramework client) {
		ZooKeeperLockProvider process = this.fixture.newProcess(client);
		process.check(PATIENCE);
		return process;
	}

	private static LockGrant acquire(ZooKeeperLockProvider process, LockKey key) {
		return ((AttemptResult.Granted) resultOf(process.newContender(key, () -> {
			// Ignored: the test attempts by itself.
		}).attempt(OwnerId.random(), LEASE, false, PATIENCE), PATIENCE)).grant();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "with-a-namespace" })
	void resetLosesTheLockAtOnceAndTheNextSessionIsAdopted(String namespace) throws Exception {
		CuratorFramework client = this.fixture.client(TestZooKeeper.connectString(),
				(builder) -> builder.namespace(namespace));
		LockOperations locks = locks(processOf(client));
		for (int round = 0; round < 3; round++) {
			LockLease lease = locks.acquire(LockRequest.of(this.key));
			AtomicInteger losses = new AtomicInteger();
			lease.onLost(losses::incrementAndGet);
			long begun = System.nanoTime();
			client.getZookeeperClient().reset();
			await().pollInterval(Duration.ofMillis(5)).until(() -> !lease.isHeld() && losses.get() == 1);
			LockLease next = locks.acquire(LockRequest.of(this.key).withWaitTime(PATIENCE));
			assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(TimeBounds.withLoad(5000));
			assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
			next.close();
		}
	}

	@Test
	void resetTwiceInARowIsFollowed() throws Exception {
		CuratorFramework client = this.fixture.client(TestZooKeeper.connectString());
		ZooKeeperLockProvider process = processOf(client);
		LockOperations locks = locks(process);
		LockLease lease = locks.acquire(LockRequest.of(this.key));
		client.getZookeeperClient().reset();
		await().until(() -> client.getZookeeperClient().isConnected());
		client.getZookeeperClient().reset();
		assertThat(await().until(lease::isHeld, (held) -> !held)).isFalse();
		locks.acquire(LockRequest.of(this.key).withWaitTime(PATIENCE)).ensureHeld();
		assertThat(process.sessions().present().zooKeeper()).isSameAs(client.getZookeeperClient().getZooKeeper());
	}

	@Test
	void closedClientLosesTheLockAtOnce() {
		CuratorFramework client = this.fixture.client(TestZooKeeper.connectString());
		LockLease lease = locks(processOf(client)).acquire(LockRequest.of(this.key));
		client.close();
		await().atMost(TimeBounds.withLoad(5000)).until(() -> !lease.isHeld());
	}

	@Test
	void lostStateOfAnotherHandleEndsNoSession() {
		CuratorFramework client = this.fixture.client(TestZooKeeper.connectString());
		ZooKeeperLockProvider process = processOf(client);
		LockGrant grant = acquire(process, this.key);
		Session session = process.sessions().present();
		process.sessions().stateChanged(client, ConnectionState.LOST);
		assertThat(session.hasEnded()).isFalse();
		assertThat(grant.sessionDeadline().until() - System.nanoTime()).isPositive();
		assertThat(process.sessions().present()).isSameAs(session);
	}

	@Test
	void changedRootIsWatchedAgain() throws Exception {
		CuratorFramework client = this.fixture.client(TestZooKeeper.connectString());
		LockLease lease = locks(processOf(client)).acquire(LockRequest.of(this.key));
		CuratorFramework admin = this.fixture.admin();
		ZooKeeperServerProcess server = ZooKeeperServerProcess.shared();
		long watches = server.statistic("zk_watch_count");
		admin.setData().forPath(this.fixture.root(), admin.getData().forPath(this.fixture.root()));
		await().until(() -> server.statistic("zk_watch_count") == watches);
		client.close();
		await().atMost(TimeBounds.withLoad(5000)).until(() -> !lease.isHeld());
	}

	/**
	 * The client is reset before it has told of its second handle, and tells of it
	 * afterwards: it takes the third one for the same.
	 */
	@Test
	void sessionIsAdoptedThatTheClientDoesNotReport() throws Exception {
		TcpProxy proxy = new TcpProxy(ZooKeeperServerProcess.shared().address());
		LateEvents handles = new LateEvents(proxy);
		CuratorFramework client = this.fixture.client("127.0.0.1:" + proxy.port(),
				(builder) -> builder.zookeeperFactory(handles));
		LockOperations locks = locks(processOf(client));
		LockLease lease = locks.acquire(LockRequest.of(this.key));
		client.getZookeeperClient().reset();
		await().until(() -> handles.last.getState().isConnected());
		client.getZookeeperClient().reset();
		assertThat(handles.created).hasValue(3);
		await().until(() -> !lease.isHeld());
		await().until(() -> handles.last.getState().isConnected());
		locks.acquire(LockRequest.of(this.key).withWaitTime(Duration.ofSeconds(10))).ensureHeld();
		client.close();
		proxy.close();
	}

	@Test
	void releaseWithoutAnAnswerIsUnknownAfterItsHandleWasClosed() throws Exception {
		TcpProxy proxy = new TcpProxy(ZooKeeperServerProcess.shared().address());
		ZooKeeperLockProvider process = processOf(this.fixture.client("127.0.0.1:" + proxy.port()));
		Session session = process.sessions().awaitReady(Deadline.after(PATIENCE));
		LockGrant grant = acquire(process, this.key);
		WireFault lost = proxy
			.onReplyTo(new ZooKeeperFaults(this.fixture).packet(Command.RELEASE, this.key), Effect.BLACK_HOLE)
			.once();
		StoreCall<ReleaseOutcome> release = process.release(this.key, grant.owner(), PATIENCE);
		await().until(() -> lost.hits() == 1 && this.fixture.heldEntries() == 0);
		// Does not wait for the server's answer: the client answers what is under way.
		Thread.currentThread().interrupt();
		session.zooKeeper().close();
		assertThat(Thread.interrupted()).isFalse();
		assertThat(resultOf(release, PATIENCE)).isEqualTo(ReleaseOutcome.UNKNOWN);
		assertThat(session.hasEnded()).isTrue();
		proxy.close();
	}

	@Test
	void nextProviderOfTheSessionLeavesTheLocksOfAClosedOneAlone() throws Exception {
		TcpProxy proxy = new TcpProxy(ZooKeeperServerProcess.shared().address());
		CuratorFramework client = this.fixture.client("127.0.0.1:" + proxy.port());
		ZooKeeperLockProvider closed = processOf(client);
		LockGrant grant = acquire(closed, this.key);
		closed.close();
		ZooKeeperLockProvider next = processOf(client);
		WireFault lost = proxy
			.onReplyTo(new ZooKeeperFaults(this.fixture).packet(Command.ACQUIRE, this.key), Effect.CUT)
			.once();
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> acquire(next, this.key));
		assertThat(lost.hits()).isOne();
		await().atMost(PATIENCE).until(() -> next.undecided().size() == 0);
		assertThat(this.fixture.admin().checkExists().forPath(this.fixture.path(this.key).lockNode()).getCzxid())
			.isEqualTo(grant.order());
		assertThat(resultOf(closed.release(this.key, grant.owner(), PATIENCE), PATIENCE))
			.isEqualTo(ReleaseOutcome.RELEASED);
		proxy.close();
	}

	/** Handles of which the second tells of its connection only when it is closed. */
	private static final class LateEvents implements ZookeeperFactory {

		private final AtomicInteger created = new AtomicInteger();

		private final CountDownLatch closing = new CountDownLatch(1);

		private final CountDownLatch told = new CountDownLatch(1);

		private final TcpProxy proxy;

		private volatile ZooKeeper last;

		private LateEvents(TcpProxy proxy) {
			this.proxy = proxy;
		}

		@Override
		public ZooKeeper newZooKeeper(String connect, int timeout, Watcher watcher, boolean readOnly) throws Exception {
			int number = this.created.incrementAndGet();
			if (number == 3) {
				// This handle has no session when the client is asked for it.
				this.proxy.onRequest((packet) -> true, Effect.DELAY).by(Duration.ofSeconds(1)).once();
			}
			this.last = (number != 2) ? new ZooKeeper(connect, timeout, watcher, readOnly)
					: new ZooKeeper(connect, timeout, (event) -> tellLate(watcher, event), readOnly) {

						@Override
						public synchronized void close() throws InterruptedException {
							LateEvents.this.closing.countDown();
							assertThat(LateEvents.this.told.await(10, TimeUnit.SECONDS)).isTrue();
							super.close();
						}

					};
			return this.last;
		}

		private void tellLate(Watcher watcher, WatchedEvent event) {
			ZooKeeperFixture.call(() -> this.closing.await(10, TimeUnit.SECONDS));
			watcher.process(event);
			this.told.countDown();
		}

	}

}
