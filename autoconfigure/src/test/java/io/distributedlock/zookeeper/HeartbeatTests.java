package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests of {@link Heartbeat}. */
class HeartbeatTests {

	private static final long TIMEOUT_NANOS = TestSessions.TIMEOUT.toNanos();

	/** What a session lasts after the leader has heard of it, less the margin. */
	private static final long PROVEN_NANOS = TIMEOUT_NANOS - TIMEOUT_NANOS / 200 - Duration.ofMillis(2).toNanos();

	private final LockTimer timer = new LockTimer();

	private final Session session = TestSessions.unanswered();

	private final RecordingProcessNode node = new RecordingProcessNode();

	@AfterEach
	void close() {
		this.timer.close();
	}

	private Heartbeat heartbeat(@Nullable Long notConnectedAtNanos) {
		return new Heartbeat(this.session, this.node, notConnectedAtNanos, this.timer);
	}

	@Test
	void firstAnswerCountsFromTheMomentWithoutAConnection() {
		long notConnectedAt = System.nanoTime() - Duration.ofSeconds(1).toNanos();
		heartbeat(notConnectedAt).send();
		this.node.writes.remove().complete(new Stat());
		assertThat(this.session.until()).isEqualTo(notConnectedAt + PROVEN_NANOS);
		assertThat(this.node.written).hasValue(1);
	}

	@Test
	void firstAnswerCountsFromTwoThirdsBeforeTheWriteOtherwise() {
		long before = System.nanoTime();
		heartbeat(null).send();
		long after = System.nanoTime();
		this.node.writes.remove().complete(new Stat());
		long shift = PROVEN_NANOS - TIMEOUT_NANOS * 2 / 3;
		assertThat(this.session.until() - before).isBetween(shift, shift + after - before);
	}

	@Test
	void failedWriteProvesNothing() {
		long until = this.session.until();
		heartbeat(System.nanoTime()).send();
		this.node.writes.remove().completeExceptionally(new KeeperException.ConnectionLossException());
		assertThat(this.session.until()).isEqualTo(until);
		assertThat(this.node.created).hasValue(0);
	}

	@Test
	void missingNodeIsCreatedAgain() {
		heartbeat(System.nanoTime()).send();
		this.node.writes.remove().completeExceptionally(new KeeperException.NoNodeException());
		assertThat(this.node.created).hasValue(1);
	}

	@Test
	void onlyOneWriteIsUnderWay() {
		Heartbeat heartbeat = heartbeat(System.nanoTime());
		heartbeat.send();
		heartbeat.send();
		assertThat(this.node.writes).hasSize(1);
	}

	@Test
	void endedSessionIsNotWrittenTo() {
		this.session.end();
		heartbeat(System.nanoTime()).send();
		assertThat(this.node.writes).isEmpty();
	}

	private static final class RecordingProcessNode implements Heartbeat.ProcessNode {

		private final Queue<CompletableFuture<Stat>> writes = new ConcurrentLinkedQueue<>();

		private final AtomicInteger created = new AtomicInteger();

		private final AtomicInteger written = new AtomicInteger();

		@Override
		public CompletableFuture<Stat> write() {
			CompletableFuture<Stat> answer = new CompletableFuture<>();
			this.writes.add(answer);
			return answer;
		}

		@Override
		public void create() {
			this.created.incrementAndGet();
		}

		@Override
		public void written() {
			this.written.incrementAndGet();
		}

	}

}
