package io.distributedlock.interceptor;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The key of an annotated method can be built by hand. */
class AnnotatedKeyTests {

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = new LockTemplate(new LocalLockProvider(),
			LockSettings.defaults().withWaitTime(Duration.ZERO), this.timer, List.of(), List.of());

	private final Payments payments = new LockedProxies(this.locks).ofClass(new Payments());

	@AfterEach
	void close() {
		this.locks.close();
		this.timer.close();
	}

	@Test
	void keyBuiltByHandExcludesTheAnnotatedMethod() throws Exception {
		LockRequest request = LockRequest.of(LockKey.of("Payments.pay", "7"));
		this.locks.execute(request, (lease) -> onAnotherThread(() -> {
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.payments.pay(7));
			assertThat(this.payments.pay(8)).isTrue();
		}));
		assertThat(this.payments.pay(7)).isTrue();
	}

	@Test
	void methodsWithoutACommonNameDoNotShareLocks() throws Exception {
		LockRequest request = LockRequest.of(LockKey.of("Payments.pay", "7"));
		this.locks.execute(request, (lease) -> onAnotherThread(() -> assertThat(this.payments.refund(7)).isTrue()));
	}

	private static boolean onAnotherThread(Runnable task) throws Exception {
		Throwable[] failure = new Throwable[1];
		Thread thread = new Thread(task);
		thread.setUncaughtExceptionHandler((ended, ex) -> failure[0] = ex);
		thread.start();
		thread.join(30_000);
		assertThat(thread.isAlive()).isFalse();
		assertThat(failure[0]).isNull();
		return true;
	}

	static class Payments {

		@DistributedLock("#id")
		boolean pay(long id) {
			return true;
		}

		@DistributedLock("#id")
		boolean refund(long id) {
			return true;
		}

	}

}
