package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Which thread sends the attempt of a request whose thread is parked, once the store has
 * notified this process.
 */
class NotifiedAttemptTests {

	private static final LockKey KEY = LockKey.of("seats", "13A");

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private final LockTimer timer = new LockTimer();

	@AfterEach
	void stop() {
		this.timer.close();
	}

	@ParameterizedTest(name = "blocking provider: {0}")
	@ValueSource(booleans = { false, true })
	void notifyingThreadSendsTheAttemptUnlessThatBlocks(boolean blocking) {
		ScriptedLockProvider provider = new ScriptedLockProvider(blocking);
		List<Thread> senders = new CopyOnWriteArrayList<>();
		provider.onAttempt = (answer) -> {
			senders.add(Thread.currentThread());
			// No poll of the waiter comes before the notification.
			return (answer instanceof AttemptResult.Busy) ? new AttemptResult.Busy(TIMEOUT, null) : answer;
		};
		LockContender other = provider.store.newContender(KEY, () -> {
		});
		LockGrant held = ((AttemptResult.Granted) resultOf(other.attempt(OwnerId.random(), TIMEOUT, false, TIMEOUT)))
			.grant();
		CompletableFuture<Boolean> acquired = new CompletableFuture<>();
		try (LockTemplate locks = new LockTemplate(provider, LockSettings.defaults(), this.timer, List.of(),
				List.of())) {
			Thread waiter = new Thread(() -> {
				try (LockLease lease = locks.acquire(LockRequest.of(KEY).withWaitTime(TIMEOUT))) {
					acquired.complete(lease.isHeld());
				}
				catch (RuntimeException ex) {
					acquired.completeExceptionally(ex);
				}
			});
			waiter.start();
			await().until(() -> waiter.getState() == Thread.State.TIMED_WAITING && !senders.isEmpty());
			assertThat(senders).containsOnly(waiter);
			senders.clear();
			resultOf(provider.store.release(KEY, held.owner(), TIMEOUT));
			assertThat(acquired).succeedsWithin(TIMEOUT).isEqualTo(true);
			assertThat(senders).first().isSameAs(blocking ? waiter : Thread.currentThread());
		}
	}

}
