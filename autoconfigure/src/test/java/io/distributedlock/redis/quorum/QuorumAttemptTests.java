package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.AbstractList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.RedisLockKeys;
import io.distributedlock.redis.script.ReplyHandler;
import io.distributedlock.redis.script.Script;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptReply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Interleavings of the replies of several nodes, which no real server provokes. The
 * servers of these tests reply when the test says so.
 */
class QuorumAttemptTests {

	private static final ScriptReply GRANTED = new ScriptReply(List.of(7L), true);

	private static final ScriptReply DONE = new ScriptReply(List.of(1L), true);

	private static final ScriptReply NOTHING = new ScriptReply(List.of(0L), true);

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final RedisLockKeys KEYS = new RedisLayout("attempts").keys(KEY);

	private final LockTimer timer = new LockTimer("redis-timer");

	private final List<ManualNode> nodes = IntStream.range(0, 3).mapToObj((number) -> new ManualNode()).toList();

	private final Quorum quorum = new Quorum(List.copyOf(this.nodes), this.timer, "0".repeat(32));

	@AfterEach
	void close() {
		this.timer.close();
	}

	private CompletableStoreCall<AttemptResult> attempt(OwnerId owner) {
		return QuorumAttempt.send(this.quorum,
				new QuorumRequest(KEY, KEYS, owner, LEASE, Deadline.after(Duration.ofMinutes(1)), false,
						(holder, releasePending) -> new AttemptResult.Busy(Duration.ZERO,
								(holder != null) ? holder.holder() : null, true, releasePending)));
	}

	private static ScriptReply busy(OwnerId owner) {
		return busy(owner, Duration.ofSeconds(1));
	}

	private static ScriptReply busy(OwnerId owner, Duration remaining) {
		String value = owner.text() + "H" + "1".repeat(16) + "1".repeat(10) + "000";
		return new ScriptReply(List.of(Script.NOT_GRANTED, RedisLayout.bytes(value), remaining.toMillis(), 0L, 0L, 0L),
				true);
	}

	/**
	 * The grant of the third node waits for the thread that counts the reply of the
	 * second one, after which the lock is busy.
	 */
	@Test
	void grantThatComesWhileTheLockTurnsOutBusyIsReleased() {
		OwnerId holder = OwnerId.random();
		CompletableStoreCall<AttemptResult> call = attempt(OwnerId.random());
		Thread third = new Thread(() -> this.nodes.get(2).latest().onReply(GRANTED), "third-node");
		third.setDaemon(true);
		List<?> busy = busy(holder).values();
		ScriptReply slow = new ScriptReply(new AbstractList<Object>() {

			@Override
			public Object get(int index) {
				if (third.getState() == Thread.State.NEW) {
					third.start();
					await().pollInterval(Duration.ofMillis(1)).until(() -> third.getState() == Thread.State.BLOCKED);
				}
				return busy.get(index);
			}

			@Override
			public int size() {
				return busy.size();
			}

		}, true);
		this.nodes.get(0).latest().onReply(busy(holder));
		this.nodes.get(1).latest().onReply(slow);
		await().until(call::isDone);
		assertThat(call.result()).isInstanceOfSatisfying(AttemptResult.Busy.class,
				(answer) -> assertThat(answer.releasePending()).isTrue());
		assertThat(this.nodes.get(2).scripts).containsExactly(Script.ATTEMPT, Script.RELEASE);
	}

	/** The first node has missed the last renewal, or keeps what others have released. */
	@ParameterizedTest
	@CsvSource({ "false, 20", "true, 1" })
	void restOfALeaseIsThatOfAMajority(boolean free, int seconds) {
		OwnerId holder = OwnerId.random();
		CompletableStoreCall<AttemptResult> call = attempt(OwnerId.random());
		if (free) {
			this.nodes.get(2).latest().onReply(GRANTED);
		}
		this.nodes.get(0).latest().onReply(busy(holder, Duration.ofSeconds(1)));
		this.nodes.get(1).latest().onReply(busy(holder, Duration.ofSeconds(20)));
		assertThat(call.result()).isInstanceOfSatisfying(AttemptResult.Busy.class,
				(busy) -> assertThat(busy.holder().remaining()).hasSeconds(seconds));
	}

	private OwnerId acquireOnTwo() {
		OwnerId owner = OwnerId.random();
		CompletableStoreCall<AttemptResult> call = attempt(owner);
		for (int number = 0; number < 2; number++) {
			this.nodes.get(number).latest().onReply(GRANTED);
		}
		for (int number = 0; number < 2; number++) {
			assertThat(this.nodes.get(number).scripts).containsExactly(Script.ATTEMPT, Script.QUORUM_ORDER);
			this.nodes.get(number).latest().onReply(DONE);
		}
		assertThat(call.result()).isInstanceOf(AttemptResult.Granted.class);
		return owner;
	}

	private StoreCall<ReleaseOutcome> release(OwnerId owner) {
		ScriptCall script = this.quorum.release(KEYS, owner);
		StoreCall<ReleaseOutcome> call = new QuorumRelease(this.quorum, owner, script, LEASE).send(script, LEASE);
		for (int number = 0; number < 2; number++) {
			this.nodes.get(number).latest().onReply(DONE);
		}
		assertThat(call.result()).isEqualTo(ReleaseOutcome.RELEASED);
		return call;
	}

	/** The server may run the attempt, which came over another connection, afterwards. */
	@Test
	void nodeThatHasNotAnsweredTheAttemptDoesNotConfirmTheReleaseByNotHavingTheLock() {
		ManualNode third = this.nodes.get(2);
		OwnerId owner = acquireOnTwo();
		third.connections = 2;
		release(owner);
		third.latest().onReply(NOTHING);
		PendingNodeReleases pending = this.quorum.pending(third);
		assertThat(pending.size()).isEqualTo(1);
		// A machine that stalls sends it once more meanwhile.
		await().until(() -> third.scripts.size() > 2);
		int sent = third.scripts.size();
		third.latest().onReply(NOTHING);
		assertThat(pending.size()).isEqualTo(1);
		await().until(() -> third.scripts.size() > sent);
		third.latest().onReply(DONE);
		assertThat(pending.size()).isZero();
		assertThat(this.quorum.partialGrants()).isZero();
	}

	@Test
	void nodeThatDidNotReceiveTheAttemptIsNotAskedToReleaseItLater() {
		ManualNode third = this.nodes.get(2);
		third.down = true;
		release(acquireOnTwo());
		assertThat(this.quorum.pending(third).size()).isZero();
		assertThat(this.quorum.partialGrants()).isZero();
	}

	@Test
	void lateNodeWithAHigherOrderDoesNotConfirmTheGrant() {
		CompletableStoreCall<AttemptResult> call = attempt(OwnerId.random());
		this.nodes.get(0).latest().onReply(GRANTED);
		this.nodes.get(1).latest().onReply(GRANTED);
		this.nodes.get(2).latest().onReply(new ScriptReply(List.of(8L), true));
		assertThat(this.nodes.get(2).scripts).containsExactly(Script.ATTEMPT);
		this.nodes.get(0).latest().onReply(DONE);
		this.nodes.get(1).latest().onReply(NOTHING);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(call::result);
	}

	@Test
	void fullListDropsTheOldestAttemptWithoutAReplyFirst() {
		ManualNode third = this.nodes.get(2);
		NodeCall attempt = new NodeCall(third);
		attempt.send(this.quorum.release(KEYS, OwnerId.random()), CallKind.ACQUIRE, Deadline.after(LEASE));
		third.down = true;
		PendingNodeReleases pending = this.quorum.pending(third);
		OwnerId dropped = OwnerId.random();
		for (int number = 1; number < PendingNodeReleases.CAPACITY; number++) {
			pending.add(this.quorum.release(KEYS, OwnerId.random()), null, LEASE);
		}
		for (OwnerId unclear : List.of(dropped, dropped, OwnerId.random())) {
			pending.add(this.quorum.release(KEYS, unclear), attempt, LEASE);
			assertThat(pending.size()).isEqualTo(PendingNodeReleases.CAPACITY);
		}
		assertThat(pending.contains(dropped)).isFalse();
	}

	/** A node whose replies the test gives. */
	private static final class ManualNode implements QuorumNode {

		private final List<Script> scripts = new CopyOnWriteArrayList<>();

		private final List<ReplyHandler<?>> operations = new CopyOnWriteArrayList<>();

		private volatile long connections = 1;

		private volatile boolean down;

		private ReplyHandler<?> latest() {
			return this.operations.get(this.operations.size() - 1);
		}

		@Override
		public void run(ScriptCall call, CallKind kind, Deadline deadline, ReplyHandler<?> operation) {
			if (this.down) {
				operation.recordQueued();
				operation.fail(LockProviderException.nothingSent(LockError.STORE_FAILED, "redis", "is down", null));
			}
			else if (operation.beginSend()) {
				this.operations.add(operation);
				this.scripts.add(call.script());
			}
		}

		@Override
		public String name() {
			return "manual";
		}

		@Override
		public String state() {
			return "up";
		}

		@Override
		public long connections() {
			return this.connections;
		}

	}

}
