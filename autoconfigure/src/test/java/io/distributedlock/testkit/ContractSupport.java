package io.distributedlock.testkit;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowingConsumer;
import org.awaitility.Awaitility;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LossReason;
import io.distributedlock.provider.AttemptResult;

import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static io.distributedlock.testkit.ContractConstants.TOLERANCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Access of each part of the contract to the store under test.
 */
interface ContractSupport {

	/** Removes the 100 ms pause before each first poll, which adds up to minutes. */
	static void pollWithoutDelay() {
		Awaitility.setDefaultPollDelay(Duration.ZERO);
		Awaitility.setDefaultPollInterval(Duration.ofMillis(10));
	}

	/**
	 * Returns the fixture of the running test.
	 * @return the fixture
	 */
	LockProviderFixture fixture();

	/**
	 * Creates a process over the fixture's store, closed after the test.
	 * @return the process
	 */
	ContractProcess process();

	/**
	 * Creates a key that no other test uses.
	 * @return the key
	 */
	default LockKey freshKey() {
		return LockKey.of("contract", "key-" + KeyNumbers.next());
	}

	/**
	 * Tests with a short time, and with longer ones while it was too short for the
	 * machine. The processes of a round that failed are closed before the next one.
	 * @param first the time of the first round
	 * @param round a round with the given time, with keys and processes of its own
	 */
	void inRounds(Duration first, ThrowingConsumer<Duration> round);

	/**
	 * Tests with a short lease, and with longer ones while it was too short for the
	 * machine.
	 * @param round a round with the given lease, with keys and processes of its own
	 */
	default void withShortLease(ThrowingConsumer<Duration> round) {
		inRounds(fixture().shortestLease(), round);
	}

	/**
	 * Tests once more what has failed: a machine that stands still at the wrong moment
	 * lets a process miss its turn or its time.
	 * @param round a round, with keys and processes of its own
	 */
	default void inTwoRounds(ThrowingCallable round) {
		inRounds(PATIENCE, (time) -> round.call());
	}

	/** Returns the limit for events without a promised time in a test with this lease. */
	static Duration patience(Duration leaseTime) {
		return PATIENCE.plus(leaseTime.multipliedBy(2));
	}

	/**
	 * Promises that a lease lasts in the store for as long as it was requested.
	 * @param requested when it was requested
	 * @param leaseTime the lease after which its key was found free just now
	 */
	static void assertNotEarly(long requested, Duration leaseTime) {
		Duration after = since(requested);
		// The clocks of store and test may differ by what the engine allows for, too.
		Rounds.promise(() -> assertThat(after).as("end of a lease of %s", leaseTime)
			.isGreaterThanOrEqualTo(leaseTime.minusMillis(50)));
	}

	/**
	 * Returns whether a lock is held and its key busy for another process. Promises that
	 * nobody else is granted the lock while its holder believes to hold it.
	 */
	static boolean isHeldAlone(LockLease lease, ContractProcess other, LockKey key) {
		AttemptResult result = other.attempt(key);
		boolean busy = result instanceof AttemptResult.Busy;
		boolean held = lease.isHeld();
		Rounds.promise(() -> assertThat(!busy && held).as("granted while it is held").isFalse());
		if (result instanceof AttemptResult.Granted granted) {
			other.release(granted.grant());
		}
		return busy && held;
	}

	/**
	 * Waits until the holder learns that the store no longer keeps its lock. Fails if the
	 * lease ran out before, after which it need not learn anything else.
	 */
	static void awaitLoss(LockLease lease) {
		await().pollInterval(Duration.ofMillis(5)).atMost(patience(lease.remaining())).until(() -> !lease.isHeld());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld)
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LossReason.NOT_HELD));
	}

	/**
	 * Asserts that a wait has ended in time just now, and promises that it is not early.
	 */
	static void assertWaited(long start, Duration waitTime) {
		Duration waited = since(start);
		Rounds.promise(() -> assertThat(waited).isGreaterThanOrEqualTo(waitTime.minusMillis(5)));
		assertThat(waited).isLessThanOrEqualTo(waitTime.plus(TOLERANCE));
	}

	/** Asserts for a time that a condition is true, and fails once it is not. */
	static void assertStays(Duration time, BooleanSupplier condition) {
		long start = System.nanoTime();
		await().atMost(time.plus(PATIENCE)).until(() -> {
			boolean over = since(start).compareTo(time) >= 0;
			assertThat(condition.getAsBoolean()).as("what has to stay for %s, after %s", time, since(start)).isTrue();
			return over;
		});
	}

	/** Waits until the store holds no entry of a holder, waiter or reservation. */
	default void assertStoreIsEmpty() {
		await().atMost(Duration.ofSeconds(30))
			.pollInterval(Duration.ofMillis(20))
			.untilAsserted(() -> assertThat(fixture().heldEntries()).isZero());
	}

	/** Applies a function to all elements in four threads and returns the results. */
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
