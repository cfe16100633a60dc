package io.distributedlock.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.assertj.core.api.Assertions;
import org.assertj.core.api.ThrowingConsumer;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockProviderException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

class RoundsTests {

	private final List<Duration> times = new ArrayList<>();

	private final AtomicInteger cleanUps = new AtomicInteger();

	private Throwable run(long firstMillis, ThrowingConsumer<Duration> round) {
		return catchThrowable(() -> Rounds.run(Duration.ofMillis(firstMillis), (time) -> {
			this.times.add(time);
			round.acceptThrows(time);
		}, this.cleanUps::incrementAndGet));
	}

	private static LockProviderException failure(LockError error) {
		return new LockProviderException(error, "under test", "failed", null);
	}

	@Test
	void failedRoundIsRepeatedUntilALongOneHasFailed() {
		Throwable thrown = run(300, (time) -> Assertions.fail("with %s", time));
		assertThat(thrown).isInstanceOf(AssertionError.class).hasMessage("with PT3S");
		assertThat(thrown.getSuppressed()).hasSize(1);
		assertThat(this.times).containsExactly(Duration.ofMillis(300), Duration.ofMillis(1200), Duration.ofSeconds(3));
		assertThat(this.cleanUps).hasValue(2);
	}

	@Test
	void longFirstRoundIsRepeatedToo() {
		run(5000, (time) -> Assertions.fail("always"));
		assertThat(this.times).containsExactly(Duration.ofSeconds(5), Duration.ofSeconds(10));
	}

	@Test
	void roundThatSucceedsIsTheLast() {
		assertThat(run(300, (time) -> assertThat(time).isGreaterThan(Duration.ofSeconds(1)))).isNull();
		assertThat(this.times).hasSize(2);
	}

	@Test
	void whatSlownessCausesIsRepeated() {
		for (RuntimeException slow : List.of(new ConditionTimeoutException("too slow"),
				new LockNotAcquiredException(LockKey.of("contract"), Duration.ZERO, null),
				failure(LockError.STORE_TIMEOUT))) {
			this.times.clear();
			assertThat(run(1000, (time) -> {
				throw slow;
			})).isSameAs(slow);
			assertThat(this.times).hasSize(2);
		}
	}

	@Test
	void otherExceptionIsNotRepeated() {
		for (RuntimeException mistake : List.of(new IllegalStateException("mistake"),
				failure(LockError.STORE_FAILED))) {
			this.times.clear();
			assertThat(run(300, (time) -> {
				throw mistake;
			})).isSameAs(mistake);
			assertThat(this.times).hasSize(1);
		}
	}

	@Test
	void brokenPromiseIsNotRepeated() {
		Throwable thrown = run(300, (time) -> Rounds.promise(() -> Assertions.fail("broken")));
		assertThat(thrown).isInstanceOf(Rounds.BrokenPromise.class).hasMessage("broken");
		assertThat(this.times).hasSize(1);
		assertThat(this.cleanUps).hasValue(0);
	}

	@Test
	void brokenPromiseOfAnotherThreadIsNotRepeated() {
		Throwable thrown = run(300, (time) -> TestThread.start(() -> {
			Rounds.promise(() -> Assertions.fail("broken"));
			return null;
		}).result());
		assertThat(thrown).hasRootCauseMessage("broken");
		assertThat(this.times).hasSize(1);
	}

}
