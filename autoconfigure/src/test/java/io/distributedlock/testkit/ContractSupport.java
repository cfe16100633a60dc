package io.distributedlock.testkit;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import org.awaitility.Awaitility;

import io.distributedlock.LockKey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What the parts of the contract share.
 */
interface ContractSupport {

	/** How much later than promised something may happen, on a loaded machine. */
	Duration TOLERANCE = TimeBounds.withLoad(Duration.ofMillis(250));

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

	/** Does the same for all, several at a time, and gives what came of it. */
	static <T, R> List<R> inThreads(List<T> all, Function<T, R> work) {
		ExecutorService threads = Executors.newFixedThreadPool(4);
		try {
			List<CompletableFuture<R>> results = all.stream()
				.map((one) -> CompletableFuture.supplyAsync(() -> work.apply(one), threads))
				.toList();
			return results.stream().map(CompletableFuture::join).toList();
		}
		finally {
			threads.shutdownNow();
		}
	}

	static Duration since(long nanos) {
		return Duration.ofNanos(System.nanoTime() - nanos);
	}

}
