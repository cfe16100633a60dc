package io.distributedlock.zookeeper;

import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.zookeeper.node.QueueNode;
import io.distributedlock.zookeeper.session.LockPath;
import io.distributedlock.zookeeper.session.Session;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests of {@link QueueEntryRegistry}. */
class QueueEntryRegistryTests {

	private static final String NODE = "/queues/key/1ab-0000000003";

	private final LockKey key = LockKey.of("key");

	private final AtomicInteger signals = new AtomicInteger();

	private final RecordedRequests requests = new RecordedRequests();

	private final Session session = this.requests.session();

	private final QueueEntryRegistry entries = new QueueEntryRegistry();

	private final ContenderId contention = new ContenderId(this.key, new LockPath("/locks/key", "/queues/key"), 0, 1,
			this.signals::incrementAndGet);

	@Test
	void entryIsUsedAgainInItsSession() {
		QueueNode entry = this.entries.getOrCreate(this.contention, this.session);
		assertThat(entry).isNotNull();
		assertThat(this.entries.getOrCreate(this.contention, this.session)).isSameAs(entry);
	}

	@Test
	void entryOfAnEndedSessionDoesNotReplaceThatOfALaterOne() {
		Session former = this.requests.session();
		QueueNode entry = this.entries.getOrCreate(this.contention, this.session);
		former.end();
		assertThat(this.entries.getOrCreate(this.contention, former)).isNull();
		assertThat(this.entries.find(this.contention, null)).isSameAs(entry);
	}

	@Test
	void endedSessionGetsNoEntry() {
		this.session.end();
		assertThat(this.entries.getOrCreate(this.contention, this.session)).isNull();
		assertThat(this.entries.find(this.contention, null)).isNull();
	}

	@Test
	void closeDeletesTheNodesOfAllEntries() {
		QueueNode entry = this.entries.getOrCreate(this.contention, this.session);
		entry.created(NODE);
		this.entries.close();
		assertThat(this.requests.next("delete").path()).isEqualTo(NODE);
		this.requests.assertNone();
		assertThat(entry.node()).isNull();
		assertThat(this.signals).as("nobody is to attempt again").hasValue(0);
	}

}
