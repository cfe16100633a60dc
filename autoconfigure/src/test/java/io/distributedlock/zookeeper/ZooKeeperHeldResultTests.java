package io.distributedlock.zookeeper;

import io.distributedlock.interceptor.HeldResultContract;
import io.distributedlock.testkit.LockProviderFixture;

class ZooKeeperHeldResultTests extends HeldResultContract {

	@Override
	protected LockProviderFixture createFixture() {
		return new ZooKeeperFixture(TestZooKeeper.connectString(), ZooKeeperFixture.SESSION);
	}

}
