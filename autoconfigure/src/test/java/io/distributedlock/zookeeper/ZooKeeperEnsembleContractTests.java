package io.distributedlock.zookeeper;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;

/**
 * Contract tests on three servers; a client may use any of them. Each test has its own
 * root.
 */
@Tag("matrix")
@Execution(ExecutionMode.CONCURRENT)
class ZooKeeperEnsembleContractTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return new ZooKeeperFixture(ZooKeeperEnsemble.shared().connectString(), ZooKeeperFixture.SESSION);
	}

	@Test
	@Override
	public void releaseOfAnExpiredGrantLeavesTheNextHolderAlone() {
		SessionContract.releaseAfterTheEndOfTheSession(fixture(),
				(process) -> ZooKeeperEnsemble.shared().leader().endSession(process.sessions().present().id()));
	}

	@Test
	@Override
	public void lossFoundByTheReleaseIsThrown() {
		SessionContract.lossThatOnlyTheReleaseNotices(fixture());
	}

}
