package io.distributedlock.zookeeper;

import org.junit.jupiter.api.Test;

import io.distributedlock.support.LockProviderContract;
import io.distributedlock.support.LockProviderFixture;

/**
 * The contract on three servers, of which each client talks to any.
 */
class ZooKeeperEnsembleContractTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return new ZooKeeperFixture(ZooKeeperEnsemble.shared().connectString(), ZooKeeperFixture.SESSION, "/locks");
	}

	@Test
	@Override
	public void releaseOfAnExpiredTenureLeavesTheNextHolderAlone() {
		SessionContract.releaseAfterTheEndOfTheSession(fixture(),
				(process) -> ZooKeeperEnsemble.shared().leader().endSession(process.sessions().present().id()));
	}

	@Test
	@Override
	public void lossThatOnlyTheReleaseNoticesIsToldToo() {
		SessionContract.lossThatOnlyTheReleaseNotices(fixture());
	}

}
