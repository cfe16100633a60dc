package io.distributedlock.sample;

import org.junit.jupiter.api.Tag;

/** The tour with locks in ZooKeeper. */
@Tag("matrix")
@Tag("full")
class ControlRoomInZooKeeperTests extends ControlRoomContract {

	ControlRoomInZooKeeperTests() {
		super("zookeeper", "ZooKeeper");
	}

}
