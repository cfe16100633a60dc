package io.distributedlock.zookeeper;

import org.junit.jupiter.api.Test;

import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

class ZooKeeperLockProviderContractTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return ZooKeeperFixture.ofOneServer();
	}

	@Test
	@Override
	public void releaseOfAnExpiredGrantLeavesTheNextHolderAlone() {
		SessionContract.releaseAfterTheEndOfTheSession(fixture(),
				(process) -> ZooKeeperServerProcess.shared().endSession(process.sessions().present().id()));
	}

	@Test
	@Override
	public void lossFoundByTheReleaseIsThrown() {
		SessionContract.lossThatOnlyTheReleaseNotices(fixture());
	}

}
