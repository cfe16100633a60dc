package io.distributedlock.zookeeper.session;

import java.time.Duration;
import java.util.Objects;
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
import io.distributedlock.zookeeper.TestSessions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests of {@link Heartbeat}. */
class HeartbeatTests {

	private static final long TIMEOUT_NANOS = TestSessions.TIMEOUT.toNanos();

	/** What a session lasts after the leader has heard of it, less the margin. */
	private static final long PROVEN_NANOS = proven(TestSessions.TIMEOUT);

	private static final Duration QUICK = Duration.ofSeconds(2);

	private final LockTimer timer = new LockTimer();

	private final Session session = TestSessions.unanswered();

	private RecordingProcessNode node = new RecordingProcessNode();

	@AfterEach
	void close() {
		this.timer.close();
	}

	private static long proven(Duration timeout) {
		return timeout.toNanos() - timeout.toNanos() / 200 - Duration.ofMillis(2).toNanos();
	}

	private Heartbeat heartbeat(@Nullable Long beforeSessionNanos) {
		return new Heartbeat(this.session, this.node::write, this.node::written, beforeSessionNanos, this.timer);
	}

	@Test
	void firstAnswerCountsFromAMomentBeforeTheSession() {
		long beforeSession = System.nanoTime() - Duration.ofSeconds(1).toNanos();
		heartbeat(beforeSession).send();
		this.node.writes.remove().complete(new Stat());
		assertThat(this.session.until()).isEqualTo(beforeSession + PROVEN_NANOS);
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
	void firstAnswerDoesNotCountFromAMomentThatIsLongPast() {
		long before = System.nanoTime();
		heartbeat(before - 2 * TIMEOUT_NANOS).send();
		long after = System.nanoTime();
		this.node.writes.remove().complete(new Stat());
		long shift = PROVEN_NANOS - TIMEOUT_NANOS * 2 / 3;
		assertThat(this.session.until() - before).isBetween(shift, shift + after - before);
	}

	@Test
	void writeSentSoonAfterALateAnswerProvesNothing() {
		Heartbeat heartbeat = heartbeat(System.nanoTime());
		heartbeat.send();
		CompletableFuture<Stat> late = this.node.writes.remove();
		await().pollDelay(TestSessions.TIMEOUT.multipliedBy(3).dividedBy(10)).until(() -> true);
		late.complete(new Stat());
		long until = this.session.until();
		// As after a reconnection, which does not wait. The timer may send it as well.
		heartbeat.send();
		nextWrite().complete(new Stat());
		assertThat(this.session.until()).isEqualTo(until);
	}

	@Test
	void writeIsProvenByTheFirstThatIsSentAQuarterAfterItsAnswer() {
		// An answer that a stalled machine makes late begins no proof.
		await().untilAsserted(this::assertWriteIsProvenByTheNext);
	}

	private void assertWriteIsProvenByTheNext() {
		this.node = new RecordingProcessNode();
		Session quick = TestSessions.unanswered(QUICK);
		long before = System.nanoTime();
		heartbeatOf(quick).send();
		long after = System.nanoTime();
		CompletableFuture<Stat> first = this.node.writes.remove();
		long answered = System.nanoTime();
		first.complete(new Stat());
		CompletableFuture<Stat> second = nextWrite();
		assertThat(this.node.sentAtNanos - answered).isGreaterThanOrEqualTo(QUICK.toNanos() / 4);
		second.complete(new Stat());
		if (quick.until() - before > proven(QUICK) + after - before) {
			throw new IllegalStateException("Proven for too long, which no stall causes");
		}
		assertThat(quick.until() - before).isGreaterThanOrEqualTo(proven(QUICK));
	}

	private CompletableFuture<Stat> nextWrite() {
		return await().pollInterval(Duration.ofMillis(1)).until(this.node.writes::poll, Objects::nonNull);
	}

	@Test
	void lateAnswerIsFollowedByAnotherWriteAndNoLockUntilTheNextProof() {
		Session slow = TestSessions.unanswered(QUICK);
		new Heartbeat(slow, this.node::write, this.node::written, System.nanoTime(), this.timer).send();
		answerUntilValid(slow);
		CompletableFuture<Stat> late = nextWrite();
		await().pollDelay(QUICK.dividedBy(2)).until(() -> true);
		late.complete(new Stat());
		assertThat(slow.isValid()).isFalse();
		nextWrite().complete(new Stat());
		assertThat(slow.isValid()).isFalse();
		answerUntilValid(slow);
	}

	/** Answers the next write, and more of them if this process stalls meanwhile. */
	private void answerUntilValid(Session session) {
		await().until(() -> {
			nextWrite().complete(new Stat());
			return session.isValid();
		});
	}

	@Test
	void writeThatWasLostWithItsConnectionIsProvenByTheNextAnswer() {
		Heartbeat heartbeat = heartbeat(System.nanoTime() - TIMEOUT_NANOS / 2);
		long before = System.nanoTime();
		heartbeat.send();
		long after = System.nanoTime();
		this.node.writes.remove().completeExceptionally(new KeeperException.ConnectionLossException());
		heartbeat.send();
		nextWrite().complete(new Stat());
		assertThat(this.session.until() - before).isBetween(PROVEN_NANOS, PROVEN_NANOS + after - before);
	}

	private Heartbeat heartbeatOf(Session quick) {
		return new Heartbeat(quick, this.node::write, this.node::written, System.nanoTime() - QUICK.toNanos(),
				this.timer);
	}

	@Test
	void closedHeartbeatWritesNothing() {
		Heartbeat heartbeat = heartbeat(System.nanoTime());
		heartbeat.send();
		heartbeat.close();
		this.node.writes.remove().complete(new Stat());
		heartbeat.send();
		assertThat(this.node.writes).isEmpty();
	}

	@Test
	void failedWriteProvesNothing() {
		long until = this.session.until();
		heartbeat(System.nanoTime()).send();
		this.node.writes.remove().completeExceptionally(new KeeperException.ConnectionLossException());
		assertThat(this.session.until()).isEqualTo(until);
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

	private static final class RecordingProcessNode {

		private final Queue<CompletableFuture<Stat>> writes = new ConcurrentLinkedQueue<>();

		private final AtomicInteger written = new AtomicInteger();

		private volatile long sentAtNanos;

		private CompletableFuture<Stat> write() {
			CompletableFuture<Stat> answer = new CompletableFuture<>();
			this.sentAtNanos = System.nanoTime();
			this.writes.add(answer);
			return answer;
		}

		private void written() {
			this.written.incrementAndGet();
		}

	}

}
