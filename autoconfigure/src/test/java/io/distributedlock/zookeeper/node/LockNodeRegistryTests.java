package io.distributedlock.zookeeper.node;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.zookeeper.RecordedRequests;
import io.distributedlock.zookeeper.TestSessions;
import io.distributedlock.zookeeper.session.LockNodeState;
import io.distributedlock.zookeeper.session.LockPath;
import io.distributedlock.zookeeper.session.Session;
import io.distributedlock.zookeeper.session.ZNode;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests of {@link LockNodeRegistry}. */
class LockNodeRegistryTests {

	private static final long CZXID = 42;

	private final LockKey key = LockKey.of("key");

	private final OwnerId owner = OwnerId.random();

	private final Session session = TestSessions.unanswered();

	private final LockNodeRegistry lockNodes = new LockNodeRegistry(RecordedRequests.closedTimer(), (node) -> {
		// Ignored: no lease expires.
	});

	private LockNode node(OwnerId nodeOwner, Session nodeSession) {
		LockPath path = new LockPath("/locks/key", "/queues/key");
		return new LockNode(new NodeAttempt(this.key, path, nodeOwner, nodeSession), CZXID, null, Duration.ofHours(1));
	}

	private ZNode read() {
		return new ZNode(new byte[0], RecordedRequests.lockNode(CZXID, LockNodeState.HELD));
	}

	@Test
	void nodeOfAnEndedSessionDoesNotReplaceThatOfALaterOne() {
		Session former = TestSessions.unanswered();
		LockNode present = node(this.owner, this.session);
		assertThat(this.lockNodes.add(present)).isTrue();
		former.end();
		assertThat(this.lockNodes.add(node(OwnerId.random(), former))).isFalse();
		assertThat(this.lockNodes.find(this.key, this.owner)).isSameAs(present);
	}

	@Test
	void nodeOfAnEndedSessionIsNotAdded() {
		this.session.end();
		assertThat(this.lockNodes.add(node(this.owner, this.session))).isFalse();
		assertThat(this.lockNodes.find(this.key, this.owner)).isNull();
		assertThat(this.lockNodes.contains(this.key, read())).isFalse();
	}

	@Test
	void nodeIsKnownButNotFoundUntilItsReleaseHasEnded() {
		LockNode node = node(this.owner, this.session);
		this.lockNodes.add(node);
		assertThat(this.lockNodes.beginRelease(node)).isTrue();
		assertThat(this.lockNodes.beginRelease(node)).isFalse();
		assertThat(this.lockNodes.find(this.key, this.owner)).isNull();
		assertThat(this.lockNodes.contains(this.key, read())).isTrue();
		this.lockNodes.remove(node);
		assertThat(this.lockNodes.contains(this.key, read())).isFalse();
	}

	@Test
	void lateRemovalLeavesTheNextNode() {
		LockNode first = node(OwnerId.random(), this.session);
		LockNode second = node(this.owner, this.session);
		this.lockNodes.add(first);
		this.lockNodes.beginRelease(first);
		this.lockNodes.add(second);
		this.lockNodes.remove(first);
		assertThat(this.lockNodes.find(this.key, this.owner)).isSameAs(second);
	}

}
