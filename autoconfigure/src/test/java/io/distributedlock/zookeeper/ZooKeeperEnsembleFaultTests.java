package io.distributedlock.zookeeper;

import org.junit.jupiter.api.Tag;

import io.distributedlock.testkit.LockProviderFixture;

/**
 * Fault tests on three servers, with a proxy before each.
 */
@Tag("matrix")
class ZooKeeperEnsembleFaultTests extends ZooKeeperLockFaultTests {

	@Override
	protected LockProviderFixture createFixture() {
		ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.shared();
		ZooKeeperFixture fixture = new ZooKeeperFixture(ensemble.connectString(), SESSION);
		return fixture.with(new ZooKeeperFaults(fixture, ensemble::servers, ensemble::leader));
	}

}
