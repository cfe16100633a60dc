package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockCallback;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.EngineLease;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/** What a nested call does when the joined lock ends while it acquires further keys. */
class LockTemplateJoinTests {

	private static final LockKey JOINED = LockKey.of("a");

	private static final LockKey OWN = LockKey.of("b");

	private final ScriptedLockProvider provider = new ScriptedLockProvider();

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = new LockTemplate(this.provider, LockSettings.defaults(), this.timer, List.of(),
			List.of());

	private final AtomicBoolean ran = new AtomicBoolean();

	@AfterEach
	void stop() {
		this.locks.close();
		this.timer.close();
	}

	@Test
	void depthOfNestedCallsCostsNothing() {
		try (LockLease outer = this.locks.acquire(LockRequest.of(JOINED))) {
			EngineLease nested = (EngineLease) outer;
			for (int depth = 0; depth < 100_000; depth++) {
				nested = nested.join();
			}
			assertThat(nested.isHeld()).isTrue();
		}
	}

	@Test
	void nestedBodyDoesNotStartUnderALostLock() {
		LockRequest outer = LockRequest.of(JOINED).withLease(Duration.ofMillis(500)).withoutRenewal();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.locks.execute(outer,
					nestedWhile((lease) -> await().pollDelay(Duration.ZERO).until(() -> !lease.isHeld()))))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.REENTRY_AFTER_LOSS))
			.satisfies((ex) -> assertThat(ex.key()).isEqualTo(JOINED));
		assertThat(this.ran).isFalse();
		assertOwnLockIsReleased();
	}

	@Test
	void nestedBodyDoesNotStartUnderALockThatWasClosed() {
		assertThatIllegalStateException()
			.isThrownBy(() -> this.locks.execute(LockRequest.of(JOINED), nestedWhile(LockLease::close)));
		assertThat(this.ran).isFalse();
		assertOwnLockIsReleased();
	}

	/** A nested call for both keys; the event happens while it acquires the second. */
	private LockCallback<Object, RuntimeException> nestedWhile(Consumer<LockLease> event) {
		return (lease) -> {
			this.provider.onAttempt = (answer) -> {
				event.accept(LockContext.current());
				return answer;
			};
			return this.locks.execute(LockRequest.ofAll(List.of(JOINED, OWN)), (inner) -> {
				this.ran.set(true);
				return "ran";
			});
		};
	}

	private void assertOwnLockIsReleased() {
		this.provider.onAttempt = null;
		LockLease lease = this.locks.tryAcquire(LockRequest.of(OWN).withWaitTime(Duration.ZERO));
		assertThat(lease).isNotNull();
		lease.close();
	}

}
