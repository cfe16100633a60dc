package io.distributedlock.zookeeper.node;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.zookeeper.TestSessions;
import io.distributedlock.zookeeper.session.LockPath;
import io.distributedlock.zookeeper.session.Session;
import io.distributedlock.zookeeper.session.ZooKeeperOperations;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests of {@link QueueNode}. */
class QueueNodeTests {

	private static final LockPath PATH = new LockPath("/locks/key", "/queues/key");

	private static final String NODE = "/queues/key/1ab-0000000003";

	private static final String PREDECESSOR = "/queues/key/1ab-0000000002";

	private final Session session = TestSessions.unanswered();

	private final AtomicInteger signals = new AtomicInteger();

	private final QueueNode entry = new QueueNode(LockKey.of("key"), PATH, 0, this.session, (event) -> {
	}, this.signals::incrementAndGet);

	private static WatchedEvent event(EventType type, String path) {
		return new WatchedEvent(type, KeeperState.SyncConnected, path);
	}

	private void watch(int position, String path) {
		this.entry.created(NODE);
		this.entry.setPosition(position, new ZooKeeperOperations.Children(List.of(), 0, 0));
		this.entry.watch(path);
	}

	@Test
	void headIsNotifiedOnceOfAChangedLockNode() {
		watch(0, PATH.lockNode());
		this.entry.process(event(EventType.NodeDataChanged, PATH.lockNode()));
		this.entry.process(event(EventType.NodeDataChanged, PATH.lockNode()));
		assertThat(this.signals).hasValue(1);
		assertThat(this.entry.isWatching()).isFalse();
		assertThat(this.entry.pollEvent()).isEqualTo(EventType.NodeDataChanged);
		assertThat(this.entry.pollEvent()).isEqualTo(EventType.None);
	}

	@Test
	void entryExpectsToBeTheHeadOnceItsPredecessorIsDeleted() {
		watch(2, PREDECESSOR);
		assertThat(this.entry.isHeadExpected()).isFalse();
		this.entry.process(event(EventType.NodeDeleted, PREDECESSOR));
		assertThat(this.signals).hasValue(1);
		assertThat(this.entry.isHeadExpected()).isTrue();
		assertThat(this.entry.isHead()).as("the position has to be read").isFalse();
		assertThat(this.entry.isPositionKnown()).isFalse();
		assertThat(this.entry.pollEvent()).as("the lock node has not changed").isEqualTo(EventType.None);
	}

	@Test
	void othersAreThoseBehindTheEntry() {
		this.entry.setPosition(1, new ZooKeeperOperations.Children(List.of("first", "this"), 0, 0));
		assertThat(this.entry.othersUntil().isPast()).isTrue();
		long begun = System.nanoTime();
		this.entry.setPosition(0, new ZooKeeperOperations.Children(List.of("this", "second"), 0, 0));
		assertThat(this.entry.othersUntil().nanos() - begun).isGreaterThanOrEqualTo(ReleaseOperations.GRACE.toNanos());
	}

	@Test
	void eventsOfOtherNodesAndOfTheConnectionAreIgnored() {
		watch(1, PREDECESSOR);
		this.entry.process(event(EventType.NodeDeleted, PATH.lockNode()));
		this.entry.process(new WatchedEvent(EventType.None, KeeperState.Disconnected, null));
		assertThat(this.signals).hasValue(0);
		assertThat(this.entry.isWatching()).isTrue();
	}

	@Test
	void deletedNodeFreesItsBytesOnce() {
		assertThat(this.session.tryAllocate(PATH.queueEntryLength())).isTrue();
		watch(0, PATH.lockNode());
		assertThat(this.entry.deleted(PREDECESSOR)).isFalse();
		assertThat(this.entry.deleted(NODE)).isTrue();
		assertThat(this.entry.deleted(NODE)).isFalse();
		assertThat(this.session.bytes()).isZero();
		assertThat(this.entry.isEmpty()).isTrue();
	}

	@Test
	void lateWithdrawalLeavesTheEntryOfALaterContender() {
		this.entry.assign(1, this.signals::incrementAndGet);
		this.entry.assign(2, this.signals::incrementAndGet);
		assertThat(this.entry.mayBeWithdrawnBy(1)).isFalse();
		assertThat(this.entry.mayBeWithdrawnBy(2)).isTrue();
	}

}
