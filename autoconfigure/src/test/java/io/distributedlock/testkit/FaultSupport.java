package io.distributedlock.testkit;

import java.time.Duration;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;

import static io.distributedlock.testkit.ContractConstants.CALL_TIMEOUT;
import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static io.distributedlock.testkit.ContractConstants.TOLERANCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Access of each part of the fault contract to the store and the network before it.
 */
interface FaultSupport extends ContractSupport {

	/**
	 * Returns the faults of the running test's store.
	 * @return the faults
	 */
	StoreFaults faults();

	/**
	 * Creates a proxy before the store's servers, closed after the test.
	 * @return the proxy
	 */
	TcpProxy proxy();

	/**
	 * Creates a process that reaches the store through a proxy and is connected already.
	 * @param proxy the proxy
	 * @return the process, closed after the test
	 */
	FaultyProcess process(TcpProxy proxy);

	/**
	 * Returns the shortest lease that survives a broken connection.
	 * @return the lease
	 */
	default Duration shortLease() {
		return TimeBounds.withLoad(Duration.ofSeconds(2)).plus(faults().reconnectTime().multipliedBy(2));
	}

	/** Creates a key whose text is not part of another key's text. */
	@Override
	default LockKey freshKey() {
		return LockKey.of("fault", "key-" + KeyNumbers.next() + "-");
	}

	/**
	 * Acquires a lock that a test needs before it does anything to the store: again if a
	 * loaded machine did not answer in time.
	 */
	static LockLease acquired(LockTemplate locks, LockRequest request) {
		long start = System.nanoTime();
		while (true) {
			try {
				return locks.acquire(request);
			}
			catch (LockProviderException ex) {
				if (ContractSupport.since(start).compareTo(PATIENCE) > 0) {
					throw ex;
				}
			}
		}
	}

	/**
	 * Starts a thread that waits for a held lock, and returns once some attempts were
	 * made: another thread if a loaded machine did not answer in time.
	 */
	static TestThread<LockLease> startWaiter(ContractProcess process, LockRequest request, int attempts) {
		long start = System.nanoTime();
		while (true) {
			int before = process.provider().attempts();
			TestThread<LockLease> waiter = TestThread.start(() -> process.locks().acquire(request));
			await().atMost(PATIENCE)
				.until(() -> waiter.isDone()
						|| (process.provider().attempts() - before >= attempts && waiter.isWaiting()));
			if (!waiter.isDone() || ContractSupport.since(start).compareTo(PATIENCE) > 0) {
				return waiter;
			}
		}
	}

	/**
	 * Waits until a process that has lost its connection is answered again, so that its
	 * next command is sent.
	 */
	static void awaitReconnection(ContractProcess process) {
		await().atMost(PATIENCE)
			.pollInterval(Duration.ofMillis(20))
			.ignoreExceptionsInstanceOf(LockProviderException.class)
			.until(() -> {
				process.provider().check(ContractProcess.TIMEOUT);
				return true;
			});
	}

	/** Returns the longest time that an acquire may take on a loaded machine. */
	static Duration bound(Duration waitTime) {
		return ((waitTime.compareTo(CALL_TIMEOUT) > 0) ? waitTime : CALL_TIMEOUT).plus(TOLERANCE);
	}

	/** Asserts that a call ends in time with an exception of the store. */
	static LockProviderException assertStoreFails(Duration waitTime, ThrowingCallable acquire) {
		long start = System.nanoTime();
		LockProviderException[] failure = new LockProviderException[1];
		Rounds.promise(() -> assertThatExceptionOfType(LockProviderException.class).isThrownBy(acquire)
			.satisfies((ex) -> failure[0] = ex));
		assertThat(ContractSupport.since(start)).isLessThanOrEqualTo(bound(waitTime));
		assertThat(failure[0].error()).isIn(LockError.STORE_TIMEOUT, LockError.STORE_FAILED);
		return failure[0];
	}

}
