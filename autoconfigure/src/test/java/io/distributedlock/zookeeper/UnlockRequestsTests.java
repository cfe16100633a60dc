package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.DirectFieldAccessor;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.WireFault;
import io.distributedlock.zookeeper.session.Session;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of {@link UnlockRequests}: nodes that an operator creates.
 */
@Tag("full")
class UnlockRequestsTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final ZooKeeperFixture fixture = new ZooKeeperFixture(TestZooKeeper.connectString(),
			ZooKeeperFixture.SESSION);

	private final List<AutoCloseable> opened = new ArrayList<>();

	private final LockTemplate locks = locks(this.fixture.newProcess());

	private final LockKey key = LockKey.of("orders", "a/b \u00e4");

	@AfterEach
	void close() throws Exception {
		for (AutoCloseable each : this.opened) {
			each.close();
		}
		this.fixture.close();
	}

	private LockTemplate locks(ZooKeeperLockProvider process) {
		LockTimer timer = new LockTimer();
		LockTemplate template = new LockTemplate(process, LockSettings.defaults().withCallTimeout(PATIENCE), timer,
				List.of(), List.of());
		this.opened.add(template);
		this.opened.add(timer);
		return template;
	}

	private LockLease acquire(LockKey wanted) {
		return this.locks.acquire(LockRequest.of(wanted).withLease(PATIENCE.multipliedBy(10)));
	}

	private String request(LockKey wanted) {
		String lockNode = this.fixture.path(wanted).lockNode();
		return this.fixture.root() + "/unlocks" + lockNode.substring(lockNode.lastIndexOf('/'));
	}

	private void create(String node) {
		create(node, new byte[0]);
	}

	private void create(String node, byte[] data) {
		// The parent is created after the first lock may be acquired.
		await().atMost(PATIENCE)
			.ignoreExceptionsMatching((ex) -> ex.getCause() instanceof KeeperException.NoNodeException)
			.until(() -> ZooKeeperFixture.call(() -> this.fixture.admin().create().forPath(node, data)) != null);
	}

	private boolean exists(String node) {
		return ZooKeeperFixture.call(() -> this.fixture.admin().checkExists().forPath(node)) != null;
	}

	@Test
	void holderIsToldAndTheLockIsReleased() {
		LockLease lease = acquire(this.key);
		CompletableFuture<LossReason> told = new CompletableFuture<>();
		lease.onLost(() -> told.complete(lease.lossReason()));
		LockTemplate waiting = locks(this.fixture.newProcess());
		CompletableFuture<LockLease> next = waiting.acquireAsync(LockRequest.of(this.key).withWaitTime(PATIENCE));
		await().atMost(PATIENCE).until(() -> !this.fixture.children(this.fixture.path(this.key).queue()).isEmpty());
		create(request(this.key));
		assertThat(told).succeedsWithin(PATIENCE).isEqualTo(LossReason.FORCED);
		assertThat(lease.isHeld()).isFalse();
		assertThat(next).succeedsWithin(PATIENCE).satisfies((successor) -> {
			assertThat(successor.fencingToken()).isGreaterThan(lease.fencingToken());
			lease.close();
			assertThat(successor.isHeld()).isTrue();
			successor.close();
		});
		await().atMost(PATIENCE).until(() -> !exists(request(this.key)));
	}

	@Test
	void requestForAnEarlierHolderEndsNoLaterGrant() {
		create(request(this.key));
		LockLease lease = acquire(this.key);
		LockKey other = LockKey.of("orders", "43");
		LockLease second = acquire(other);
		create(request(other));
		await().atMost(PATIENCE).until(() -> !second.isHeld());
		await().atMost(PATIENCE).until(() -> !exists(request(this.key)));
		assertThat(lease.isHeld()).isTrue();
		lease.close();
		second.close();
	}

	@Test
	void requestThatNamesAGrantEndsThatGrantAlone() {
		LockLease lease = acquire(this.key);
		long order = lease.fencingToken().order();
		create(request(this.key), UnlockRequests.dataFor(order - 1));
		await().atMost(PATIENCE).until(() -> !exists(request(this.key)));
		assertThat(lease.isHeld()).isTrue();
		create(request(this.key), UnlockRequests.dataFor(order));
		await().atMost(PATIENCE).until(() -> !lease.isHeld());
		lease.close();
	}

	/** It remains until the last process has seen it. */
	@Test
	void requestThatNamesNoGrantEndsAllShares() {
		try (TcpProxy proxy = new TcpProxy(ZooKeeperServerProcess.shared().address())) {
			ZooKeeperLockProvider process = this.fixture.newProcess("127.0.0.1:" + proxy.port());
			process.check(PATIENCE);
			LockRequest shared = LockRequest.of(this.key).shared().withLease(PATIENCE.multipliedBy(10));
			LockLease late = locks(process).acquire(shared);
			LockLease first = this.locks.acquire(shared);
			await().atMost(PATIENCE).until(() -> exists(this.fixture.root() + "/unlocks"));
			WireFault held = proxy.onRequest(
					(packet) -> new String(packet, StandardCharsets.ISO_8859_1).contains("/unlocks"),
					WireFault.Effect.HOLD);
			create(request(this.key));
			await().atMost(PATIENCE)
				.until(() -> this.fixture.children(this.fixture.path(this.key).lockNode()).size() == 1);
			assertThat(first.lossReason()).isEqualTo(LossReason.FORCED);
			assertThat(exists(request(this.key))).isTrue();
			held.close();
			await().atMost(PATIENCE).until(() -> late.lossReason() == LossReason.FORCED);
			await().atMost(PATIENCE).until(() -> !exists(request(this.key)));
		}
	}

	@Test
	void requestIsSeenAfterTheConnectionWasCut() {
		try (TcpProxy proxy = new TcpProxy(ZooKeeperServerProcess.shared().address())) {
			ZooKeeperLockProvider process = this.fixture.newProcess("127.0.0.1:" + proxy.port());
			process.check(PATIENCE);
			LockLease lease = locks(process).acquire(LockRequest.of(this.key).withLease(PATIENCE));
			await().atMost(PATIENCE).until(() -> exists(this.fixture.root() + "/unlocks"));
			try (WireFault silence = proxy.blackHole()) {
				proxy.cutAll();
				create(request(this.key));
				assertThat(exists(request(this.key))).isTrue();
				await().atMost(PATIENCE).until(() -> silence.hits() > 0);
			}
			await().atMost(PATIENCE).until(() -> lease.lossReason() == LossReason.FORCED);
			await().atMost(PATIENCE).until(() -> !exists(request(this.key)));
		}
	}

	/** The client sets no watch whose answer it has not received. */
	@Test
	void requestIsSeenAlthoughTheAnswerOfTheWatchWasLost() {
		await().atMost(PATIENCE).until(() -> exists(this.fixture.root() + "/unlocks"));
		try (TcpProxy proxy = new TcpProxy(ZooKeeperServerProcess.shared().address())) {
			WireFault lost = proxy
				.onReplyTo((packet) -> new String(packet, StandardCharsets.ISO_8859_1).contains("/unlocks"),
						WireFault.Effect.CUT)
				.once();
			ZooKeeperLockProvider process = this.fixture.newProcess("127.0.0.1:" + proxy.port());
			await().atMost(PATIENCE).until(() -> lost.hits() == 1);
			process.check(PATIENCE);
			LockLease lease = locks(process).acquire(LockRequest.of(this.key).withLease(PATIENCE));
			create(request(this.key));
			await().atMost(PATIENCE).until(() -> lease.lossReason() == LossReason.FORCED);
		}
	}

	@Test
	void parentThatAnotherClientCreatesIsWatched() {
		String root = this.fixture.root();
		await().atMost(PATIENCE).until(() -> exists(root + "/unlocks"));
		LockLease lease = acquire(this.key);
		permit(root, ZooDefs.Perms.READ | ZooDefs.Perms.DELETE | ZooDefs.Perms.ADMIN);
		ZooKeeperFixture.call(() -> this.fixture.admin().delete().forPath(root + "/unlocks"));
		// Refused to create it, the process watches a node that is missing.
		await().atMost(PATIENCE).until(() -> watchesMissing(root + "/unlocks"));
		permit(root, ZooDefs.Perms.ALL);
		create(root + "/unlocks");
		create(request(this.key));
		await().atMost(PATIENCE).until(() -> lease.lossReason() == LossReason.FORCED);
		lease.close();
	}

	private void permit(String node, int permissions) {
		ZooKeeperFixture.call(() -> this.fixture.admin()
			.setACL()
			.withACL(List.of(new ACL(permissions, ZooDefs.Ids.ANYONE_ID_UNSAFE)))
			.forPath(node));
	}

	/** Whether the process watches a node that does not exist. */
	private boolean watchesMissing(String node) {
		Session session = this.fixture.processes().iterator().next().sessions().present();
		if (session == null) {
			return false;
		}
		DirectFieldAccessor client = new DirectFieldAccessor(
				new DirectFieldAccessor(session.zooKeeper()).getPropertyValue("cnxn"));
		return ((Map<?, ?>) new DirectFieldAccessor(client.getPropertyValue("watchManager"))
			.getPropertyValue("existWatches")).containsKey(node);
	}

	@Test
	void deletedParentIsCreatedAgain() {
		String parent = this.fixture.root() + "/unlocks";
		await().atMost(PATIENCE).until(() -> exists(parent));
		ZooKeeperFixture.call(() -> this.fixture.admin().delete().forPath(parent));
		LockLease lease = acquire(this.key);
		create(request(this.key));
		await().atMost(PATIENCE).until(() -> lease.lossReason() == LossReason.FORCED);
		lease.close();
	}

	/** As after a loss whose release has not begun. */
	@Test
	void lockNodeThatTheEngineDoesNotKnowIsReleased() {
		ZooKeeperLockProvider process = this.fixture.newProcess();
		resultOf(process.newContender(this.key, () -> {
			// Ignored: the test attempts by itself.
		}).attempt(OwnerId.random(), PATIENCE.multipliedBy(10), false, PATIENCE), PATIENCE);
		create(request(this.key));
		await().atMost(PATIENCE).until(() -> !exists(this.fixture.path(this.key).lockNode()));
		assertThat(resultOf(this.fixture.newProcess().newContender(this.key, () -> {
			// Ignored: the test attempts by itself.
		}).attempt(OwnerId.random(), PATIENCE, false, PATIENCE), PATIENCE)).isInstanceOf(AttemptResult.Granted.class);
	}

}
