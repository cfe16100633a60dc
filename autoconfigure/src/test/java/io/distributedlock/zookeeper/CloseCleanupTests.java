package io.distributedlock.zookeeper;

import java.time.Duration;

import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.WireFault;

import static io.distributedlock.testkit.StoreCalls.outcomeOf;
import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of the close of a provider whose client belongs to the application, is cut off,
 * and lives on.
 */
@Tag("full")
class CloseCleanupTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final Duration LEASE = Duration.ofMinutes(10);

	private final ZooKeeperFixture fixture = new ZooKeeperFixture(TestZooKeeper.connectString(),
			Duration.ofSeconds(30));

	private final LockKey key = LockKey.of("remaining", "key");

	@AfterEach
	void close() {
		this.fixture.close();
	}

	private AttemptResult attempt(ZooKeeperLockProvider process, OwnerId owner, boolean willWait) {
		return resultOf(process.newContender(this.key, () -> {
			// Ignored: the test attempts by itself.
		}).attempt(owner, LEASE, willWait, PATIENCE), PATIENCE);
	}

	/** Closes a provider whose last requests do not reach the server. */
	private void closeCutOff(ZooKeeperLockProvider process, TcpProxy proxy) {
		try (WireFault silence = proxy.blackHole()) {
			process.close();
			await().atMost(PATIENCE).until(() -> silence.hits() > 0);
			proxy.cutAll();
		}
	}

	@Test
	void reservationIsDeletedAgain() {
		try (TcpProxy proxy = new TcpProxy(ZooKeeperServerProcess.shared().address())) {
			CuratorFramework client = this.fixture.client("127.0.0.1:" + proxy.port());
			ZooKeeperLockProvider holder = this.fixture.newProcess(client);
			holder.check(PATIENCE);
			OwnerId owner = OwnerId.random();
			assertThat(attempt(holder, owner, false)).isInstanceOf(AttemptResult.Granted.class);
			CuratorFramework waitingClient = this.fixture.client(TestZooKeeper.connectString());
			ZooKeeperLockProvider waiting = this.fixture.newProcess(waitingClient);
			assertThat(attempt(waiting, OwnerId.random(), true)).isInstanceOf(AttemptResult.Busy.class);
			this.fixture.keepReservationsOf(holder);
			outcomeOf(holder.release(this.key, owner, PATIENCE), PATIENCE);
			// No process waits any more, and nobody else would end the reservation.
			waitingClient.close();
			assertThat(exists()).isTrue();
			closeCutOff(holder, proxy);
			await().atMost(PATIENCE).until(() -> !exists());
			assertThat(client.getZookeeperClient().isConnected()).isTrue();
		}
	}

	@Test
	void queueEntryIsDeletedAgain() {
		try (TcpProxy proxy = new TcpProxy(ZooKeeperServerProcess.shared().address())) {
			CuratorFramework client = this.fixture.client("127.0.0.1:" + proxy.port());
			ZooKeeperLockProvider waiting = this.fixture.newProcess(client);
			waiting.check(PATIENCE);
			ZooKeeperLockProvider holder = this.fixture.newProcess();
			assertThat(attempt(holder, OwnerId.random(), false)).isInstanceOf(AttemptResult.Granted.class);
			assertThat(attempt(waiting, OwnerId.random(), true)).isInstanceOf(AttemptResult.Busy.class);
			String queue = this.fixture.path(this.key).queue();
			assertThat(this.fixture.children(queue)).hasSize(1);
			closeCutOff(waiting, proxy);
			await().atMost(PATIENCE).until(() -> this.fixture.children(queue).isEmpty());
			assertThat(client.getZookeeperClient().isConnected()).isTrue();
		}
	}

	private boolean exists() {
		String lockNode = this.fixture.path(this.key).lockNode();
		return ZooKeeperFixture.call(() -> this.fixture.admin().checkExists().forPath(lockNode)) != null;
	}

}
