package io.distributedlock.redis;

import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.OwnerId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Interleavings of the replies of several nodes, which no real server provokes. The
 * servers of these tests reply when the test says so.
 */
class QuorumAttemptTests {

	private static final ScriptReply GRANTED = new ScriptReply(List.of(7L), true);

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final RedisTimer timer = new RedisTimer();

	private final List<ManualNode> nodes = IntStream.range(0, 3).mapToObj((number) -> new ManualNode()).toList();

	private final Quorum quorum = new Quorum(List.copyOf(this.nodes), this.timer, "0".repeat(32));

	@AfterEach
	void close() {
		this.timer.close();
	}

	private CompletableStoreCall<AttemptResult> attempt(OwnerId owner) {
		RedisLockKeys keys = new RedisLayout("attempts").keys(KEY);
		return new QuorumAttempt(this.quorum,
				new QuorumRequest(KEY, keys, owner, LEASE, Deadline.after(Duration.ofMinutes(1))), false,
				(holder, releasePending) -> new AttemptResult.Busy(Duration.ZERO, null, true, releasePending))
			.send();
	}

	private static ScriptReply busy(OwnerId owner) {
		String value = owner.text() + "H" + "1".repeat(16) + "1".repeat(10) + "000";
		return new ScriptReply(List.of((long) Script.NOT_GRANTED, RedisLayout.bytes(value), 1000L, 0L, 0L, 0L), true);
	}

	/**
	 * The grant of the third node waits for the thread that counts the reply of the
	 * second one, after which the lock is busy.
	 */
	@Test
	void grantThatComesWhileTheLockTurnsOutBusyIsReleased() {
		OwnerId holder = OwnerId.random();
		CompletableStoreCall<AttemptResult> call = attempt(OwnerId.random());
		Thread third = new Thread(() -> this.nodes.get(2).attempt().onReply(GRANTED), "third-node");
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
		this.nodes.get(0).attempt().onReply(busy(holder));
		this.nodes.get(1).attempt().onReply(slow);
		await().until(call::isDone);
		assertThat(call.result()).isInstanceOfSatisfying(AttemptResult.Busy.class,
				(answer) -> assertThat(answer.releasePending()).isTrue());
		assertThat(this.nodes.get(2).scripts).containsExactly(Script.ATTEMPT, Script.RELEASE);
	}

	/** A node whose replies the test gives. */
	private static final class ManualNode implements QuorumNode {

		private final List<Script> scripts = new ArrayList<>();

		private final List<ScriptOperation<?>> operations = new ArrayList<>();

		private ScriptOperation<?> attempt() {
			return this.operations.get(0);
		}

		@Override
		public void run(ScriptCall call, CallKind kind, Deadline deadline, ScriptOperation<?> operation) {
			if (operation.beginSend()) {
				this.scripts.add(call.script());
				this.operations.add(operation);
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
			return 1;
		}

		@Override
		public boolean isBlocking() {
			return false;
		}

		@Override
		public int slot(byte[] key) {
			return 0;
		}

		@Override
		public @Nullable Object node(int slot) {
			return null;
		}

		@Override
		public Object client() {
			return this;
		}

		@Override
		public void close() {
		}

	}

}
