package io.distributedlock.local;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;

import static org.assertj.core.api.Assertions.assertThat;

class LocalStoreTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final LockKey KEY = LockKey.of("local");

	private final AtomicLong now = new AtomicLong(1);

	private final LocalStore store = new LocalStore(this.now::get);

	private final LocalLockProvider holder = new LocalLockProvider(this.store);

	private void pass(Duration time) {
		this.now.addAndGet(time.toNanos());
	}

	private static AttemptResult attempt(LockContender contender, boolean willWait) {
		return contender.attempt(OwnerId.random(), LEASE, willWait, TIMEOUT).result();
	}

	private LockContender newProcess(Runnable changed) {
		return new LocalLockProvider(this.store).newContender(KEY, changed);
	}

	private LockGrant acquire() {
		return ((AttemptResult.Granted) attempt(this.holder.newContender(KEY, () -> {
			// Never waits.
		}), false)).grant();
	}

	@Test
	void ordersGoOnAfterARestart() {
		long micros = System.currentTimeMillis() * 1000;
		AttemptResult result = attempt(new LocalLockProvider().newContender(KEY, () -> {
			// Never waits.
		}), false);
		assertThat(((AttemptResult.Granted) result).grant().order()).isBetween(micros,
				micros + Duration.ofHours(1).toNanos() / 1000);
	}

	@Test
	void releaseSignalsOnlyTheProcessThatGotTheReservation() {
		AtomicInteger first = new AtomicInteger();
		AtomicInteger second = new AtomicInteger();
		LockGrant grant = acquire();
		attempt(newProcess(first::incrementAndGet), true);
		attempt(newProcess(second::incrementAndGet), true);
		this.holder.release(KEY, grant.owner(), TIMEOUT);
		assertThat(first).hasValue(1);
		assertThat(second).hasValue(0);
	}

	@Test
	void withdrawalOfAReservationSignalsTheNextProcess() {
		AtomicInteger second = new AtomicInteger();
		LockGrant grant = acquire();
		LockContender first = newProcess(() -> {
			// Withdraws before it attempts.
		});
		attempt(first, true);
		attempt(newProcess(second::incrementAndGet), true);
		this.holder.release(KEY, grant.owner(), TIMEOUT);
		assertThat(first.withdraw(TIMEOUT).result()).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(second).hasValue(1);
	}

	@Test
	void releaseSignalsASkippedProcessIfNoOtherWaits() {
		AtomicInteger signals = new AtomicInteger();
		LockGrant grant = acquire();
		attempt(newProcess(signals::incrementAndGet), true);
		this.holder.release(KEY, grant.owner(), TIMEOUT);
		pass(Duration.ofMillis(100));
		grant = acquire();
		this.holder.release(KEY, grant.owner(), TIMEOUT);
		assertThat(signals).hasValue(2);
		acquire();
	}

	@Test
	void reservationLastsTheGraceAndNoLonger() {
		LockContender third = newProcess(() -> {
			// Does not wait.
		});
		LockGrant grant = acquire();
		attempt(newProcess(() -> {
			// Dead.
		}), true);
		this.holder.release(KEY, grant.owner(), TIMEOUT);
		pass(Duration.ofMillis(99));
		assertThat(attempt(third, false)).isEqualTo(new AttemptResult.Busy(Duration.ofMillis(1), null));
		pass(Duration.ofMillis(1));
		assertThat(attempt(third, false)).isInstanceOf(AttemptResult.Granted.class);
	}

	@Test
	void signalMayUseTheStoreItself() {
		AtomicInteger granted = new AtomicInteger();
		LocalLockProvider waiter = new LocalLockProvider(this.store);
		LockGrant grant = acquire();
		LockContender[] contender = new LockContender[1];
		contender[0] = waiter.newContender(KEY,
				() -> granted.addAndGet((attempt(contender[0], true) instanceof AttemptResult.Granted) ? 1 : 0));
		attempt(contender[0], true);
		this.holder.release(KEY, grant.owner(), TIMEOUT);
		assertThat(granted).hasValue(1);
	}

	@Test
	void queueEntryThatIsNotRefreshedExpires() {
		LockGrant grant = acquire();
		attempt(newProcess(() -> {
			// Dead.
		}), true);
		pass(Duration.ofSeconds(3));
		this.holder.release(KEY, grant.owner(), TIMEOUT);
		assertThat(this.store.size()).isZero();
	}

	@Test
	void lateWithdrawalKeepsTheEntryOfALaterContender() {
		LocalLockProvider waiter = new LocalLockProvider(this.store);
		LockContender early = waiter.newContender(KEY, () -> {
			// Withdraws.
		});
		LockContender late = waiter.newContender(KEY, () -> {
			// Attempts by itself.
		});
		LockGrant grant = acquire();
		attempt(early, true);
		attempt(late, true);
		assertThat(early.withdraw(TIMEOUT).result()).isEqualTo(ReleaseOutcome.NOT_HELD);
		this.holder.release(KEY, grant.owner(), TIMEOUT);
		assertThat(attempt(newProcess(() -> {
			// Does not wait.
		}), false)).isInstanceOf(AttemptResult.Busy.class);
		assertThat(attempt(late, true)).isInstanceOf(AttemptResult.Granted.class);
	}

	@Test
	void expiredEntriesAreSweptWithoutFurtherAttempts() {
		for (int number = 0; number < 100_000; number++) {
			this.holder.newContender(LockKey.of("local", "key-" + number), () -> {
				// Never waits.
			}).attempt(OwnerId.random(), Duration.ofMillis(10), false, TIMEOUT);
			pass(Duration.ofMillis(1));
			assertThat(this.store.size()).isLessThan(5_000);
		}
	}

	@Test
	void ordersFollowTheClockAndRiseWithoutIt() {
		LockGrant first = acquire();
		this.holder.release(KEY, first.owner(), TIMEOUT);
		LockGrant second = acquire();
		this.holder.release(KEY, second.owner(), TIMEOUT);
		assertThat(second.order()).isEqualTo(first.order() + 1);
		pass(Duration.ofSeconds(1));
		assertThat(acquire().order()).isGreaterThanOrEqualTo(1_000_000);
	}

	@Test
	void expireEndsALeaseOnce() {
		LockGrant grant = acquire();
		assertThat(this.holder.expire(KEY)).isTrue();
		assertThat(this.holder.expire(KEY)).isFalse();
		assertThat(this.holder.release(KEY, grant.owner(), TIMEOUT).result()).isEqualTo(ReleaseOutcome.NOT_HELD);
	}

}
