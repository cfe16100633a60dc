package io.distributedlock.zookeeper.node;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.zookeeper.RecordedRequests;
import io.distributedlock.zookeeper.RecordedRequests.Request;
import io.distributedlock.zookeeper.session.LockPath;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests of {@link ReleaseOperations}. */
class ReleaseOperationsTests {

	private final RecordedRequests requests = new RecordedRequests();

	private final ReleaseOperations operation = new ReleaseOperations((key) -> {
		// Ignored: this process has no queue entry.
	}, RecordedRequests.closedTimer());

	private final LockNode node = new LockNode(new NodeAttempt(LockKey.of("key"),
			new LockPath("/locks/key", "/queues/key"), OwnerId.random(), this.requests.session()), 42, null,
			Duration.ofHours(1));

	/** Releases the lock node while a process waits for it. */
	private void reserve() {
		CompletableFuture<Boolean> released = this.operation.release(this.node);
		this.requests.next("delete").fail(Code.BADVERSION);
		Request reservation = this.requests.next("setData");
		this.requests.next("exists").succeed(RecordedRequests.queue(1));
		reservation.succeed();
		assertThat(released).isCompletedWithValue(true);
	}

	@Test
	void closeDeletesAReservation() {
		reserve();
		this.requests.assertNone();
		this.operation.close();
		this.operation.close();
		Request delete = this.requests.next("delete");
		assertThat(delete.path()).isEqualTo(this.node.path().lockNode());
		delete.succeed();
		this.requests.assertNone();
	}

	@Test
	void reservationAfterTheCloseIsDeletedAtOnce() {
		this.operation.close();
		reserve();
		this.requests.next("delete").succeed();
		this.requests.assertNone();
	}

	@Test
	void reservationInAnEmptyQueueIsDeletedBeforeTheReleaseEnds() {
		CompletableFuture<Boolean> released = this.operation.release(this.node);
		this.requests.next("delete").fail(Code.BADVERSION);
		this.requests.next("setData").succeed();
		this.requests.next("exists").succeed(RecordedRequests.queue(0));
		assertThat(released).isNotDone();
		this.requests.next("delete").succeed();
		assertThat(released).isCompletedWithValue(true);
		this.operation.close();
		this.requests.assertNone();
	}

	/** Returns a lock node that was created from the wait queue. */
	private LockNode contended(Deadline othersUntil) {
		return new LockNode(this.node.attempt(), 43, othersUntil, Duration.ofHours(1));
	}

	@Test
	void releaseDoesNotAskForOthersThatWereJustSeen() {
		CompletableFuture<Boolean> released = this.operation.release(contended(Deadline.after(Duration.ofHours(1))));
		this.requests.next("setData").succeed();
		assertThat(released).isCompletedWithValue(true);
		this.requests.assertNone();
		this.operation.close();
		this.requests.next("delete").succeed();
	}

	@Test
	void lockNodeOfTheHeadIsReservedAtOnce() {
		CompletableFuture<Boolean> released = this.operation.release(contended(Deadline.now()));
		this.requests.next("setData").succeed();
		this.requests.next("exists").succeed(RecordedRequests.queue(1));
		assertThat(released).isCompletedWithValue(true);
		this.requests.assertNone();
	}

}
