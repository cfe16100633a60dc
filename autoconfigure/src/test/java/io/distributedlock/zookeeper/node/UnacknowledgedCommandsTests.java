package io.distributedlock.zookeeper.node;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.zookeeper.RecordedRequests;
import io.distributedlock.zookeeper.RecordedRequests.Request;
import io.distributedlock.zookeeper.ReleaseCalls;
import io.distributedlock.zookeeper.session.LockNodeState;
import io.distributedlock.zookeeper.session.LockPath;
import io.distributedlock.zookeeper.session.Session;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of {@link UnacknowledgedCommands} and of the {@link ReleaseCalls} that wait for
 * them.
 */
class UnacknowledgedCommandsTests {

	private static final long CZXID = 42;

	private static final Duration HOUR = Duration.ofHours(1);

	private final LockTimer timer = RecordedRequests.closedTimer();

	private final RecordedRequests requests = new RecordedRequests();

	private final Session session = this.requests.session();

	private final ReleaseOperations releases = new ReleaseOperations((key) -> {
		// Ignored: this process has no queue entry.
	}, this.timer);

	private final LockNodeRegistry lockNodes = new LockNodeRegistry(this.timer, (node) -> {
		// Ignored: no lease expires.
	});

	private final UnacknowledgedCommands undecided = new UnacknowledgedCommands(this.lockNodes, this.releases,
			this.timer);

	private final ReleaseCalls releaseCalls = new ReleaseCalls(this.lockNodes, this.releases, this.undecided,
			this.timer);

	private NodeAttempt attempt(String key) {
		return new NodeAttempt(LockKey.of(key), new LockPath("/locks/" + key, "/queues/" + key), OwnerId.random(),
				this.session);
	}

	private static CompletableFuture<Long> lost() {
		return CompletableFuture.failedFuture(KeeperException.create(Code.CONNECTIONLOSS));
	}

	/** Adds a lock node that its owner holds. */
	private NodeAttempt held(String key) {
		NodeAttempt attempt = attempt(key);
		this.lockNodes.add(new LockNode(attempt, CZXID, null, HOUR));
		return attempt;
	}

	private StoreCall<ReleaseOutcome> release(NodeAttempt attempt) {
		return this.releaseCalls.release(attempt.key(), attempt.owner(), HOUR);
	}

	@Test
	void commandsAreFoundByLockAndOwner() {
		NodeAttempt first = attempt("first");
		NodeAttempt second = attempt("second");
		this.undecided.addAcquire(first, new CompletableFuture<>());
		this.undecided.addAcquire(second, new CompletableFuture<>());
		assertThat(this.undecided.size()).isEqualTo(2);
		assertThat(this.undecided.find(first.key())).isNotNull()
			.isSameAs(this.undecided.find(first.key(), first.owner()));
		assertThat(this.undecided.find(first.key(), second.owner())).isNull();
		assertThat(this.undecided.find(LockKey.of("third"))).isNull();
	}

	@Test
	void reconnectionSendsOneSyncForAllCommands() {
		for (String key : new String[] { "first", "second", "third" }) {
			this.undecided.addAcquire(attempt(key), lost());
		}
		this.undecided.retry(this.session);
		this.requests.next("sync").succeed();
		for (int number = 0; number < 3; number++) {
			this.requests.next("getData").fail(Code.NONODE);
		}
		this.requests.assertNone();
		assertThat(this.undecided.size()).isZero();
	}

	@Test
	void commandUnderWayIsNotRetried() {
		this.undecided.addAcquire(attempt("key"), lost());
		this.undecided.retry(this.session);
		this.undecided.retry(this.session);
		this.requests.next("sync");
		this.requests.next("getData");
		this.requests.assertNone();
	}

	@Test
	void nothingIsReadWhileAThreadWaitsForACommandOfTheSameLock() {
		NodeAttempt attempt = attempt("key");
		SentCommand awaited = SentCommand.ofAcquire(attempt);
		assertThat(this.undecided.tryBegin(awaited)).isTrue();
		assertThat(awaited).isNotNull();
		assertThat(this.undecided.tryBegin(SentCommand.ofAcquire(attempt("key")))).isFalse();
		this.undecided.addAcquire(attempt("key"), lost());
		this.undecided.retry(this.session);
		this.requests.assertNone();
		this.undecided.end(awaited, ReleaseOutcome.NOT_HELD);
		this.undecided.retry(this.session);
		this.requests.next("sync").succeed();
		this.requests.next("getData").fail(Code.NONODE);
		assertThat(this.undecided.size()).isZero();
	}

	@Test
	void commandThatNoThreadWaitsForAnyMoreIsReadAtOnce() {
		SentCommand awaited = SentCommand.ofAcquire(attempt("key"));
		assertThat(this.undecided.tryBegin(awaited)).isTrue();
		this.undecided.decide(awaited);
		this.requests.next("sync").succeed();
		this.requests.next("getData").succeed(RecordedRequests.lockNode(CZXID, LockNodeState.HELD));
		this.requests.next("delete").succeed();
		assertThat(awaited.answer()).isCompletedWithValue(ReleaseOutcome.RELEASED);
		assertThat(this.undecided.size()).isZero();
	}

	@Test
	void lateGrantIsReleasedForThePendingRelease() {
		NodeAttempt attempt = attempt("key");
		CompletableFuture<Long> sent = new CompletableFuture<>();
		this.undecided.addAcquire(attempt, sent);
		StoreCall<ReleaseOutcome> release = release(attempt);
		assertThat(release.isDone()).isFalse();
		sent.complete(CZXID);
		this.requests.next("delete").succeed();
		assertThat(release.result()).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(release(attempt).result()).as("forgotten").isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(this.undecided.size()).isZero();
	}

	@Test
	void lostReleaseOfALateGrantIsConfirmedAfterReconnect() {
		NodeAttempt attempt = attempt("key");
		CompletableFuture<Long> sent = new CompletableFuture<>();
		this.undecided.addAcquire(attempt, sent);
		StoreCall<ReleaseOutcome> abandoned = release(attempt);
		abandoned.abandon();
		sent.complete(CZXID);
		this.requests.next("delete").fail(Code.CONNECTIONLOSS);
		this.undecided.retry(this.session);
		this.requests.next("sync").succeed();
		this.requests.next("getData").fail(Code.NONODE);
		assertThat(release(attempt).result()).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@Test
	void refusedAcquireHasNothingToRelease() {
		NodeAttempt attempt = attempt("key");
		this.undecided.addAcquire(attempt, CompletableFuture.completedFuture(0L));
		assertThat(release(attempt).result()).isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(this.undecided.size()).isZero();
	}

	@Test
	void grantThatWasAnsweredBeforeIsReadAgain() {
		NodeAttempt attempt = attempt("key");
		this.undecided.addAcquire(attempt, CompletableFuture.completedFuture(CZXID));
		this.requests.assertNone();
		this.undecided.retry(this.session);
		this.requests.next("sync").succeed();
		this.requests.next("getData").succeed(RecordedRequests.lockNode(CZXID + 1, LockNodeState.HELD));
		this.requests.assertNone();
		assertThat(release(attempt).result()).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@Test
	void refusedReleaseIsUnknownAtOnceUntilItSucceeds() {
		NodeAttempt attempt = held("key");
		StoreCall<ReleaseOutcome> release = release(attempt);
		this.requests.next("delete").fail(Code.NOAUTH);
		assertThat(release.result()).isEqualTo(ReleaseOutcome.UNKNOWN);
		assertThat(release(attempt).result()).isEqualTo(ReleaseOutcome.UNKNOWN);
		this.requests.assertNone();
		this.undecided.retry(this.session);
		this.requests.next("sync").succeed();
		this.requests.next("getData").succeed(RecordedRequests.lockNode(CZXID, LockNodeState.HELD));
		this.requests.next("delete").succeed();
		assertThat(release(attempt).result()).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(release(attempt).result()).isEqualTo(ReleaseOutcome.NOT_HELD);
	}

	@Test
	void lockNodeIsReleasedByOneCommandOnly() {
		this.undecided.addAcquire(attempt("key"), lost());
		this.undecided.addAcquire(attempt("key"), lost());
		this.undecided.retry(this.session);
		Request sync = this.requests.next("sync");
		Request first = this.requests.next("getData");
		Request second = this.requests.next("getData");
		sync.succeed();
		first.succeed(RecordedRequests.lockNode(CZXID, LockNodeState.HELD));
		second.succeed(RecordedRequests.lockNode(CZXID, LockNodeState.HELD));
		this.requests.next("delete").succeed();
		this.requests.assertNone();
		assertThat(this.undecided.size()).isZero();
	}

	@Test
	void lockNodeThatIsBeingReleasedIsLeftAlone() {
		StoreCall<ReleaseOutcome> release = release(held("key"));
		Request delete = this.requests.next("delete");
		this.undecided.addAcquire(attempt("key"), lost());
		this.undecided.retry(this.session);
		this.requests.next("sync").succeed();
		this.requests.next("getData").succeed(RecordedRequests.lockNode(CZXID, LockNodeState.HELD));
		this.requests.assertNone();
		delete.succeed();
		assertThat(release.result()).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(this.undecided.size()).isZero();
	}

	@Test
	void lostReleaseOfAnEndedSessionStaysUnknown() {
		NodeAttempt attempt = held("key");
		StoreCall<ReleaseOutcome> release = release(attempt);
		this.requests.next("delete").fail(Code.CONNECTIONLOSS);
		assertThat(release.isDone()).isFalse();
		this.session.end();
		this.undecided.completeAll(this.session);
		assertThat(release.result()).isEqualTo(ReleaseOutcome.UNKNOWN);
		assertThat(release(attempt).result()).isEqualTo(ReleaseOutcome.NOT_HELD);
	}

	@Test
	void firstOwnerIsForgottenWhereTheSetIsFull() {
		Set<OwnerId> owners = UnacknowledgedCommands.lastOwners();
		OwnerId oldest = OwnerId.random();
		OwnerId second = OwnerId.random();
		owners.add(oldest);
		owners.add(second);
		for (int size = 2; size <= UnacknowledgedCommands.MAX_RELEASED; size++) {
			owners.add(OwnerId.random());
		}
		assertThat(owners).doesNotContain(oldest).contains(second);
	}

}
