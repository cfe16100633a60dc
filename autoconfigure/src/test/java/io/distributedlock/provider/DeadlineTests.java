package io.distributedlock.provider;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class DeadlineTests {

	/** An hour, so that no test depends on the speed of the machine. */
	private static final Duration HOUR = Duration.ofHours(1);

	@AfterEach
	void clearInterrupt() {
		Thread.interrupted();
	}

	@Test
	void deadlineHasPassedAtTheInstantItself() {
		assertThat(Deadline.now().isPast()).isTrue();
		assertThat(Deadline.after(Duration.ZERO).isPast()).isTrue();
		assertThat(Deadline.after(HOUR.negated()).isPast()).isTrue();
		assertThat(Deadline.after(HOUR).isPast()).isFalse();
	}

	@Test
	void remainingTimeIsAtMostTheDuration() {
		assertThat(Deadline.after(HOUR).remaining()).isPositive().isLessThanOrEqualTo(HOUR);
		assertThat(Deadline.afterNanos(HOUR.toNanos()).remainingNanos()).isPositive()
			.isLessThanOrEqualTo(HOUR.toNanos());
	}

	@Test
	void remainingTimeIsNegativeAfterTheDeadline() {
		assertThat(Deadline.after(HOUR.negated()).remaining()).isLessThanOrEqualTo(HOUR.negated());
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, Long.MAX_VALUE, Long.MAX_VALUE - 1, Long.MIN_VALUE, -1 })
	void deadlineOutlastsAnOverflowOfTheClock(long nowNanos) {
		Deadline deadline = Deadline.afterNanos(2, nowNanos);
		assertThat(deadline.remainingNanos(nowNanos)).isEqualTo(2);
		assertThat(deadline.remainingNanos(nowNanos + 3)).isEqualTo(-1);
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, Long.MAX_VALUE, Long.MAX_VALUE - 1, Long.MIN_VALUE, -1 })
	void orderOutlastsAnOverflowOfTheClock(long nowNanos) {
		Deadline early = Deadline.afterNanos(1, nowNanos);
		Deadline late = Deadline.afterNanos(2, nowNanos);
		assertThat(early.isBefore(late)).isTrue();
		assertThat(late.isBefore(early)).isFalse();
		assertThat(early.isBefore(early)).isFalse();
		assertThat(early.earlier(late)).isSameAs(early);
		assertThat(late.earlier(early)).isSameAs(early);
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, Long.MAX_VALUE, Long.MIN_VALUE })
	void hugeDurationIsShortened(long nowNanos) {
		Deadline longest = Deadline.afterNanos(Long.MAX_VALUE, nowNanos);
		Deadline shortest = Deadline.afterNanos(Long.MIN_VALUE, nowNanos);
		assertThat(longest.remainingNanos(nowNanos)).isEqualTo(Long.MAX_VALUE / 4);
		assertThat(shortest.remainingNanos(nowNanos)).isEqualTo(-(Long.MAX_VALUE / 4));
		assertThat(shortest.isBefore(longest)).isTrue();
	}

	@Test
	void durationBeyondTheRangeOfNanosecondsIsShortened() {
		Duration centuries = Duration.ofSeconds(Long.MAX_VALUE);
		assertThat(Deadline.after(centuries).remaining()).isGreaterThan(Duration.ofDays(70 * 365));
		assertThat(Deadline.after(centuries.negated()).remaining()).isLessThan(Duration.ofDays(-70 * 365));
	}

	@Test
	void uninterruptibleWaitRemembersAnInterrupt() throws Exception {
		CountDownLatch open = new CountDownLatch(0);
		AtomicInteger waits = new AtomicInteger();
		Thread.currentThread().interrupt();
		boolean opened = Deadline.after(HOUR).awaitUninterruptibly((nanos) -> {
			waits.incrementAndGet();
			assertThat(nanos).isPositive();
			return open.await(nanos, TimeUnit.NANOSECONDS);
		});
		assertThat(opened).isTrue();
		assertThat(waits).hasValue(2);
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
	}

	@Test
	void failedWaitRemembersAnInterrupt() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(TimeoutException.class)
			.isThrownBy(() -> Deadline.after(HOUR).awaitUninterruptibly((nanos) -> {
				if (Thread.interrupted()) {
					throw new InterruptedException();
				}
				throw new TimeoutException();
			}));
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
	}

	@Test
	void waitWithoutAnInterruptLeavesNone() {
		boolean ended = Deadline.now().awaitUninterruptibly((nanos) -> nanos <= 0);
		assertThat(ended).isTrue();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void interruptEndsTheWaitOfAnInterruptibleCallOnly(CallKind kind) throws Exception {
		CountDownLatch open = new CountDownLatch(0);
		Thread.currentThread().interrupt();
		if (kind.interruptible()) {
			assertThatExceptionOfType(InterruptedException.class)
				.isThrownBy(() -> Deadline.after(HOUR).await(kind, (nanos) -> open.await(nanos, TimeUnit.NANOSECONDS)));
		}
		else {
			boolean opened = Deadline.after(HOUR).await(kind, (nanos) -> open.await(nanos, TimeUnit.NANOSECONDS));
			assertThat(opened).isTrue();
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
		}
	}

}
