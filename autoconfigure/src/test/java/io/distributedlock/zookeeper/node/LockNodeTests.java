package io.distributedlock.zookeeper.node;

import java.time.Duration;

import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.zookeeper.TestSessions;
import io.distributedlock.zookeeper.session.LockPath;
import io.distributedlock.zookeeper.session.ZNode;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests of {@link LockNode}. */
class LockNodeTests {

	private static final long CZXID = 42;

	private final NodeAttempt attempt = new NodeAttempt(LockKey.of("key"), new LockPath("/locks/key", "/queues/key"),
			OwnerId.random(), TestSessions.unanswered());

	private final LockNode node = new LockNode(this.attempt, CZXID, null, Duration.ofHours(1));

	@Test
	void leaseEndsForOneCallerAndIsNotRenewedAfterwards() {
		assertThat(this.node.endLease()).isTrue();
		assertThat(this.node.endLease()).isFalse();
		assertThat(this.node.renew(Duration.ofHours(1))).isFalse();
		assertThat(this.node.remainingNanos()).isZero();
		assertThat(this.node.leaseEnd()).isNull();
	}

	@Test
	void renewedLeaseDoesNotExpireAtItsFormerEnd() {
		Deadline formerEnd = this.node.leaseEnd();
		assertThat(this.node.renew(Duration.ofHours(2))).isTrue();
		assertThat(this.node.endExpiredLease(formerEnd)).isFalse();
		Deadline end = this.node.leaseEnd();
		assertThat(this.node.endExpiredLease(new Deadline(end.nanos() - 1))).isFalse();
		assertThat(this.node.endExpiredLease(end)).isTrue();
		assertThat(this.node.endLease()).isFalse();
	}

	@Test
	void nodeIsIdentifiedBySessionAndTransaction() {
		assertThat(this.node.isSameAs(read(TestSessions.ID, CZXID, 2))).as("in any state").isTrue();
		assertThat(this.node.isSameAs(read(TestSessions.ID, CZXID + 1, 0))).isFalse();
		assertThat(this.node.isSameAs(read(TestSessions.ID + 1, CZXID, 0))).isFalse();
	}

	private static ZNode read(long sessionId, long czxid, int version) {
		Stat stat = new Stat();
		stat.setEphemeralOwner(sessionId);
		stat.setCzxid(czxid);
		stat.setVersion(version);
		return new ZNode(new byte[0], stat);
	}

}
