package io.distributedlock.zookeeper;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;

import io.distributedlock.support.LockProviderContract;
import io.distributedlock.support.LockProviderFixture;

/**
 * The contract on three servers, of which each client talks to any.
 */
class ZooKeeperEnsembleContractTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return new ZooKeeperFixture(Ensemble.CLUSTER.getConnectString(), ZooKeeperFixture.SESSION, "/locks");
	}

	@Test
	@Override
	public void releaseOfAnExpiredTenureLeavesTheNextHolderAlone() {
		SessionContract.releaseAfterTheEndOfTheSession(fixture(), Ensemble::endSession);
	}

	@Test
	@Override
	public void lossThatOnlyTheReleaseNoticesIsToldToo() {
		SessionContract.lossThatOnlyTheReleaseNotices(fixture());
	}

	private static final class Ensemble {

		private static final TestingCluster CLUSTER = start();

		private static TestingCluster start() {
			System.setProperty("zookeeper.forceSync", "no");
			System.setProperty("zookeeper.admin.enableServer", "false");
			ZooKeeperServerProcess.quiet();
			InstanceSpec[] servers = new InstanceSpec[3];
			for (int number = 0; number < servers.length; number++) {
				servers[number] = new InstanceSpec(null, -1, -1, -1, true, -1, 1000, -1);
			}
			TestingCluster cluster = new TestingCluster(servers);
			return ZooKeeperFixture.call(() -> {
				cluster.start();
				Runtime.getRuntime().addShutdownHook(new Thread(() -> ZooKeeperFixture.call(() -> {
					cluster.close();
					return true;
				})));
				return cluster;
			});
		}

		/** A second client of the same session ends it. */
		private static void endSession(ZooKeeperLockProvider process) {
			ZooKeeperFixture.call(() -> {
				ZooKeeper session = process.sessions().present().zooKeeper();
				CountDownLatch connected = new CountDownLatch(1);
				try (ZooKeeper twin = new ZooKeeper(CLUSTER.getConnectString(), session.getSessionTimeout(),
						(event) -> connected.countDown(), session.getSessionId(), session.getSessionPasswd())) {
					return connected.await(10, TimeUnit.SECONDS);
				}
			});
		}

	}

}
