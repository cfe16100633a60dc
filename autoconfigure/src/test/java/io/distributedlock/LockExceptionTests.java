package io.distributedlock;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests of the messages that applications see without the page about errors. */
class LockExceptionTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	@Test
	void messageOfABusyLockNamesTheRemedies() {
		LockHolder holder = LockHolder.of("shop-1:4711")
			.withHeldFor(Duration.ofMillis(300))
			.withRemaining(Duration.ofSeconds(29));
		assertThat(new LockNotAcquiredException(KEY, Duration.ofSeconds(5), holder)).hasMessageEndingWith(
				"Lock 'orders:42' is held by 'shop-1:4711' for 300 ms and did not become free within 5000 ms. "
						+ "Wait longer (waitTime), retry, or use onBusy = SKIP or a fallback");
	}

	@Test
	void messageOfAKeptLockSaysForHowLong() {
		LockHolder holder = LockHolder.of("shop-1:4711").withRemaining(Duration.ofSeconds(29)).withReleased(true);
		assertThat(new LockNotAcquiredException(KEY, Duration.ZERO, holder)).hasMessageContaining(
				"Lock 'orders:42' is kept for another 29000 ms (minHold) after 'shop-1:4711' has released it,"
						+ " and did not become free");
	}

	@ParameterizedTest
	@CsvSource({ "LOST, Reject late writes with the fencing token", "REENTRY_AFTER_LOSS, Repeat the enclosing call",
			"LOST_WHILE_ACQUIRING, Repeat the call" })
	void messageOfALostLockNamesTheRemedies(LockError error, String remedy) {
		assertThat(new LockLostException(error, KEY, LossReason.EXPIRED, null))
			.hasMessageContaining("Lock 'orders:42' was lost (the lease ran out)")
			.hasMessageEndingWith(remedy + ", or use a longer lease");
	}

}
