package io.distributedlock.zookeeper.node;

import org.junit.jupiter.api.Test;

import io.distributedlock.provider.OwnerId;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests of {@link ReleasedOwners}. */
class ReleasedOwnersTests {

	private final ReleasedOwners owners = new ReleasedOwners();

	@Test
	void ownerIsRemovedOnce() {
		OwnerId owner = OwnerId.random();
		this.owners.add(owner);
		assertThat(this.owners.remove(OwnerId.random())).isFalse();
		assertThat(this.owners.remove(owner)).isTrue();
		assertThat(this.owners.remove(owner)).isFalse();
	}

	@Test
	void oldestOwnerIsDroppedWhereTheSetIsFull() {
		OwnerId oldest = OwnerId.random();
		OwnerId second = OwnerId.random();
		this.owners.add(oldest);
		this.owners.add(second);
		for (int size = 2; size <= ReleasedOwners.MAX_SIZE; size++) {
			this.owners.add(OwnerId.random());
		}
		assertThat(this.owners.remove(oldest)).isFalse();
		assertThat(this.owners.remove(second)).isTrue();
	}

}
