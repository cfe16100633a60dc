package io.distributedlock.zookeeper.session;

import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests of {@link LockNodeState}, whose versions stored lock nodes have. */
class LockNodeStateTests {

	@Test
	void eachStateHasItsVersion() {
		assertThat(LockNodeState.HELD.version()).isZero();
		assertThat(LockNodeState.CONTENDED.version()).isEqualTo(1);
		assertThat(LockNodeState.RESERVED.version()).isEqualTo(2);
	}

	@Test
	void nodeIsInTheStateOfItsVersionAlone() {
		assertThat(LockNodeState.values()).filteredOn(node(1)::isIn).containsExactly(LockNodeState.CONTENDED);
		assertThat(LockNodeState.values()).filteredOn(node(3)::isIn).as("altered by another tool").isEmpty();
		ZNode foreign = node(2);
		foreign.stat().setEphemeralOwner(0);
		assertThat(LockNodeState.values()).filteredOn(foreign::isIn).as("made by another tool").isEmpty();
	}

	private static ZNode node(int version) {
		Stat stat = new Stat();
		stat.setVersion(version);
		stat.setEphemeralOwner(1);
		return new ZNode(new byte[0], stat);
	}

}
