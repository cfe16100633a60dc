package io.distributedlock.testkit;

import java.time.Duration;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.support.LockSettings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What the parts of the fault contract share.
 */
interface FaultSupport extends ContractSupport {

	/** What one round trip may take by the settings of the contract. */
	Duration CALL = LockSettings.defaults().callTimeout();

	/** Within which nothing stands in the store for nobody, once it answers again. */
	Duration CLEAN = TimeBounds.withLoad(Duration.ofSeconds(5));

	Duration LONG_LEASE = Duration.ofSeconds(60);

	StoreFaults faults();

	/** A way to the store that can be disturbed, closed with the test. */
	TcpProxy proxy();

	/** A process that reaches the store by a proxy, with connections that stand. */
	FaultyProcess process(TcpProxy proxy);

	/** A short lease that survives that the connection breaks. */
	default Duration shortLease() {
		return Duration.ofSeconds(2).plus(faults().reconnectTime().multipliedBy(2));
	}

	/** No key of a test is part of another's. */
	@Override
	default LockKey freshKey() {
		return LockKey.of("fault", "key-" + KEYS.incrementAndGet() + "-");
	}

	/** The bound of P9 for an acquire, on a loaded machine. */
	static Duration bound(Duration waitTime) {
		return ((waitTime.compareTo(CALL) > 0) ? waitTime : CALL).plus(TOLERANCE);
	}

	/** The call ends in time, and its exception says that the store did not answer. */
	static LockProviderException assertStoreFails(Duration waitTime, ThrowingCallable acquire) {
		long start = System.nanoTime();
		LockProviderException[] failure = new LockProviderException[1];
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(acquire).satisfies((ex) -> failure[0] = ex);
		assertThat(ContractSupport.since(start)).isLessThanOrEqualTo(bound(waitTime));
		assertThat(failure[0].error()).isIn(LockError.STORE_TIMEOUT, LockError.STORE_FAILED);
		return failure[0];
	}

}
