package io.distributedlock.engine.release;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.engine.ManualEnvironment;
import io.distributedlock.engine.release.PendingRelease.Kind;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

/**
 * Tests for {@link PendingReleaseQueue}, over a client that blocks. The name of a key is
 * its node.
 */
class PendingReleaseQueueTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final ManualEnvironment environment = new ManualEnvironment();

	private final LockProvider provider = mock();

	private final LockContender contender = mock();

	private final List<LockKey> freed = new ArrayList<>();

	private final AtomicInteger hanging = new AtomicInteger();

	private final PendingReleaseQueue queue = new PendingReleaseQueue(this.provider, Duration.ofSeconds(1),
			this.environment, this.freed::add);

	@BeforeEach
	void answer() {
		given(this.provider.name()).willReturn("test");
		given(this.provider.isBlocking()).willReturn(true);
		given(this.provider.node(any())).willAnswer((call) -> call.<LockKey>getArgument(0).name());
	}

	private LockKey release(String node, int number, Kind kind) {
		LockKey key = LockKey.of(node, Integer.toString(number));
		this.queue.release(key, LEASE, kind, (timeout) -> call(key));
		return key;
	}

	private StoreCall<ReleaseOutcome> call(LockKey key) {
		if (key.name().startsWith("hanging")) {
			this.hanging.incrementAndGet();
			return new CompletableStoreCall<>();
		}
		return AnsweredStoreCall.of(ReleaseOutcome.RELEASED);
	}

	@Test
	void nodesThatHangHoldUpNoOther() {
		for (int i = 0; i < 20; i++) {
			release("hanging", i, Kind.SEEN_GRANT);
			release("hanging too", i, Kind.SEEN_GRANT);
		}
		LockKey healthy = release("healthy", 1, Kind.UNSEEN_GRANT);
		this.environment.runTasks();
		assertThat(this.hanging).hasValue(4);
		assertThat(this.freed).containsExactly(healthy);
		assertThat(this.queue.size()).isEqualTo(40);
	}

	@Test
	void fullQueueDropsTheOldestUnseenGrantFirst() {
		LockKey seen = release("hanging", 0, Kind.SEEN_GRANT);
		for (int i = 1; i < PendingReleaseQueue.CAPACITY; i++) {
			release("hanging", i, Kind.UNSEEN_GRANT);
		}
		release("hanging", PendingReleaseQueue.CAPACITY, Kind.UNSEEN_GRANT);
		assertThat(this.queue.size()).isEqualTo(PendingReleaseQueue.CAPACITY);
		assertThat(this.queue.isReleasing(seen)).isTrue();
	}

	@Test
	void releaseOfAShareIsNoneOfTheWholeKey() {
		LockKey key = LockKey.of("hanging", "1");
		this.queue.release(new ShareKey(key, 2), LEASE, Kind.SEEN_GRANT, (timeout) -> call(key));
		assertThat(this.queue.size()).isEqualTo(1);
		assertThat(this.queue.isReleasing(key)).isFalse();
	}

	@Test
	void cancelledWithdrawalIsNotSent() {
		LockKey key = LockKey.of("node", "1");
		Runnable withdraw = this.queue.end(key, this.contender, true);
		Runnable cancelled = this.queue.cancelWithdrawal(key).cancelled();
		assertThat(cancelled).isNotNull();
		cancelled.run();
		withdraw.run();
		this.environment.runTasks();
		verify(this.contender).close();
		verify(this.contender, never()).withdraw(any());
		assertThat(this.queue.cancelWithdrawal(key)).isEqualTo(Withdrawal.NONE);
	}

	@Test
	void withdrawalThatIsUnderWayIsNotCancelled() {
		LockKey key = LockKey.of("node", "1");
		CompletableStoreCall<ReleaseOutcome> call = new CompletableStoreCall<>();
		given(this.contender.withdraw(any())).willReturn(call);
		this.queue.end(key, this.contender, true).run();
		this.environment.runTasks();
		assertThat(this.queue.cancelWithdrawal(key).isUnderWay()).isTrue();
		call.complete(ReleaseOutcome.NOT_HELD);
		assertThat(this.freed).containsExactly(key);
		verify(this.contender).close();
	}

	@Test
	void releaseWithoutAThreadInTimeIsUnknownAndNotSent() {
		List<ReleaseOutcome> outcomes = new ArrayList<>();
		LockKey key = LockKey.of("hanging", "1");
		CompletableFuture<Void> told = this.queue.releaseAsync(key, () -> call(key), outcomes::add);
		this.environment.runSignals();
		this.environment.runTasks();
		assertThat(told).isCompleted();
		assertThat(outcomes).containsExactly(ReleaseOutcome.UNKNOWN);
		assertThat(this.hanging).hasValue(0);
	}

	@Test
	void asynchronousReleaseEndsWithItsAnswer() {
		List<ReleaseOutcome> outcomes = new ArrayList<>();
		LockKey key = LockKey.of("node", "1");
		CompletableFuture<Void> told = this.queue.releaseAsync(key, () -> call(key), outcomes::add);
		assertThat(told).isNotDone();
		this.environment.runTasks();
		this.environment.runSignals();
		assertThat(told).isCompleted();
		assertThat(outcomes).containsExactly(ReleaseOutcome.RELEASED);
	}

}
