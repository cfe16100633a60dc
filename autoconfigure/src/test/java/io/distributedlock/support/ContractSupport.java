package io.distributedlock.support;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;

import io.distributedlock.LockKey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What the parts of the contract share.
 */
interface ContractSupport {

	/** How much later than promised something may happen. */
	Duration TOLERANCE = Duration.ofMillis(250);

	/** For what must happen, without a promise of when. */
	Duration PATIENCE = Duration.ofSeconds(10);

	AtomicInteger KEYS = new AtomicInteger();

	/** Else who awaits something waits for 100 ms first, which adds up to minutes. */
	static void lookAtOnce() {
		Awaitility.setDefaultPollDelay(Duration.ZERO);
		Awaitility.setDefaultPollInterval(Duration.ofMillis(10));
	}

	LockProviderFixture fixture();

	/** A process that is closed with the test. */
	ContractProcess process();

	default LockKey freshKey() {
		return LockKey.of("contract", "key-" + KEYS.incrementAndGet());
	}

	default void assertNothingIsLeft() {
		await().atMost(PATIENCE)
			.pollInterval(Duration.ofMillis(20))
			.untilAsserted(() -> assertThat(fixture().heldEntries()).isZero());
	}

	static Duration since(long nanos) {
		return Duration.ofNanos(System.nanoTime() - nanos);
	}

}
