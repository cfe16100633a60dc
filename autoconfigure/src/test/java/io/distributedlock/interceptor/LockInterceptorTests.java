package io.distributedlock.interceptor;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LossReason;
import io.distributedlock.OnBusy;
import io.distributedlock.OnLost;
import io.distributedlock.annotation.DistributedLock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

class LockInterceptorTests {

	private final RecordingLockOperations operations = new RecordingLockOperations();

	private final LockedProxies proxies = new LockedProxies(this.operations);

	private final Work work = this.proxies.ofClass(new Work());

	@Test
	void attributesReachTheRequest() {
		this.work.tuned();
		assertThat(this.operations.last().lease()).isEqualTo(Duration.ofSeconds(45));
		assertThat(this.operations.last().waitTime()).isZero();
		assertThat(this.operations.last().maxHold()).isEqualTo(Duration.ofMinutes(5));
		assertThat(this.operations.last().renew()).isFalse();
		assertThat(this.operations.keys()).containsExactly("nightly-eu");
		this.work.throwing();
		assertThat(this.operations.last().lease()).isNull();
		assertThat(this.operations.last().waitTime()).isNull();
		assertThat(this.operations.last().renew()).isTrue();
	}

	@Test
	void busyLockThrowsByDefault() {
		this.operations.busy();
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(this.work::throwing);
		assertThat(this.work.calls()).isZero();
	}

	@Test
	void busyLockSkipsTheBodyWithOnBusySkip() {
		this.operations.busy();
		assertThat(this.work.skipping(() -> "done")).isNull();
		assertThat(this.work.skippingOptional()).isEmpty();
		assertThat(this.work.skippingOptionalInt()).isEmpty();
		this.work.skippingVoid();
		assertThat(this.work.calls()).isZero();
	}

	@Test
	void busyLockOfTheBodyIsNotSkipped() {
		LockNotAcquiredException busy = new LockNotAcquiredException(LockKey.of("other"), Duration.ZERO, null);
		assertThat(catchThrowable(() -> this.work.skipping(() -> {
			throw busy;
		}))).isSameAs(busy);
	}

	@Test
	void reentryOnALostLockIsNotSkipped() {
		LockLostException lost = new LockLostException(LockError.REENTRY_AFTER_LOSS, LockKey.of("k"),
				LossReason.EXPIRED, null);
		assertThat(catchThrowable(() -> this.work.skipping(() -> {
			throw lost;
		}))).isSameAs(lost);
	}

	@Test
	void lossFailsAfterAGoodBodyByDefault() {
		this.operations.losing();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.work::throwing);
		assertThat(this.work.calls()).isEqualTo(1);
	}

	@Test
	void lossIsIgnoredWithOnLostIgnore() {
		this.operations.losing();
		assertThat(this.work.ignoring(() -> "done")).isEqualTo("done");
		assertThat(this.work.ignoring(() -> null)).isNull();
	}

	@Test
	void lossThatTheBodyThrowsIsNotIgnored() {
		LockLostException lost = new LockLostException(LockError.LOST, LockKey.of("other"), LossReason.EXPIRED, null);
		assertThat(catchThrowable(() -> this.work.ignoring(() -> {
			throw lost;
		}))).isSameAs(lost);
	}

	@Test
	void bodysExceptionsPassUnchanged() {
		IOException checked = new IOException();
		StackOverflowError error = new StackOverflowError();
		assertThat(catchThrowable(() -> this.work.throwing(checked))).isSameAs(checked);
		assertThat(catchThrowable(() -> this.work.throwing(error))).isSameAs(error);
	}

	@Test
	void callWithoutAttributeThrows() {
		Work target = new Work();
		Work proxy = this.proxies.withoutPointcut(target);
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(proxy::unlocked)
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.CALL_WITHOUT_ATTRIBUTE))
			.withMessageContaining("Work.unlocked");
		assertThat(target.calls()).isZero();
		assertThat(this.operations.requests()).isEmpty();
	}

	@Test
	void interfaceThatTheTargetLacksIsLocked() {
		Body proxy = this.proxies.ofInterface(LockedBody.class, new Object(), () -> "done");
		assertThat(proxy.run()).isEqualTo("done");
		assertThat(this.operations.keys()).containsExactly("LockedBody.run");
	}

	@FunctionalInterface
	interface Body {

		String run();

	}

	interface LockedBody extends Body {

		@Override
		@DistributedLock
		String run();

	}

	static class Work {

		private int calls;

		int calls() {
			return this.calls;
		}

		@DistributedLock(name = "nightly-${app.region}", lease = "${app.lease}", waitTime = "0", maxHold = "PT5M",
				renew = false)
		void tuned() {
		}

		void unlocked() {
			this.calls++;
		}

		@DistributedLock
		void throwing() {
			this.calls++;
		}

		@DistributedLock(name = "thrown")
		void throwing(Throwable ex) throws Throwable {
			throw ex;
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		String skipping(Body body) {
			this.calls++;
			assertThat(LockContext.find()).isPresent();
			return body.run();
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		Optional<String> skippingOptional() {
			this.calls++;
			return Optional.of("x");
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		OptionalInt skippingOptionalInt() {
			this.calls++;
			return OptionalInt.of(1);
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		void skippingVoid() {
			this.calls++;
		}

		@DistributedLock(onLost = OnLost.IGNORE)
		String ignoring(Body body) {
			return body.run();
		}

	}

}
