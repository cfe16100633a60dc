package io.distributedlock.zookeeper;

import io.distributedlock.support.LockProviderContract;
import io.distributedlock.support.LockProviderFixture;

class ZooKeeperLockProviderContractTests extends LockProviderContract {

	@Override
	protected LockProviderFixture createFixture() {
		return ZooKeeperFixture.ofOneServer();
	}

}
