package io.distributedlock.zookeeper;

import org.junit.jupiter.api.Tag;

import io.distributedlock.interceptor.HeldResultContract;
import io.distributedlock.testkit.LockProviderFixture;

@Tag("full")
class ZooKeeperHeldResultTests extends HeldResultContract {

	@Override
	protected LockProviderFixture createFixture() {
		return new ZooKeeperFixture(TestZooKeeper.connectString(), ZooKeeperFixture.SESSION);
	}

}
