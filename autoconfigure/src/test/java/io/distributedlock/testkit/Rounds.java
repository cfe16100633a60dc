package io.distributedlock.testkit;

import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.assertj.core.api.ThrowingConsumer;
import org.awaitility.core.ConditionTimeoutException;

import io.distributedlock.LockError;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockProviderException;

/**
 * Rounds of a test whose times a slow machine may exceed. A round that fails is repeated
 * with more time: a mistake fails each of them, a slow machine only the first ones. What
 * no slow machine can cause is a {@linkplain #promise(Runnable) promise}, which fails the
 * test at once.
 */
final class Rounds {

	private static final Log logger = LogFactory.getLog(Rounds.class);

	private static final int FACTOR = 4;

	/** Long enough for a loaded machine. */
	private static final Duration LONGEST = Duration.ofSeconds(3);

	private Rounds() {
	}

	/**
	 * Runs rounds until one succeeds, or one with a long time has failed.
	 * @param first the time of the first round
	 * @param round a round, with keys and processes of its own
	 * @param cleanUp what happens before a round is repeated
	 */
	static void run(Duration first, ThrowingConsumer<Duration> round, Runnable cleanUp) {
		Duration longest = longest(first);
		Duration time = first;
		Throwable before = null;
		while (true) {
			try {
				round.accept(time);
				return;
			}
			catch (RuntimeException | AssertionError ex) {
				if (before != null && before != ex) {
					ex.addSuppressed(before);
				}
				if (time.compareTo(longest) >= 0 || isInterrupted(ex) || !mayBeSlowness(ex)) {
					throw ex;
				}
				logger.warn("A round with " + time + " failed and is repeated with more time", ex);
				before = ex;
			}
			cleanUp.run();
			time = shorter(time.multipliedBy(FACTOR), longest);
		}
	}

	/** The first time of a slow store may be long already, and is repeated once. */
	private static Duration longest(Duration first) {
		return (first.compareTo(LONGEST) < 0) ? LONGEST : first.multipliedBy(2);
	}

	private static Duration shorter(Duration one, Duration other) {
		return (one.compareTo(other) < 0) ? one : other;
	}

	/**
	 * Asserts what holds on each machine, however slow it is: no round is repeated after
	 * it has failed.
	 * @param assertion the assertion
	 */
	static void promise(Runnable assertion) {
		try {
			assertion.run();
		}
		catch (AssertionError ex) {
			throw new BrokenPromise(ex);
		}
	}

	/** The test is over: it took too long, or its run was ended. */
	private static boolean isInterrupted(Throwable ex) {
		return Thread.currentThread().isInterrupted() || ex.getCause() instanceof InterruptedException;
	}

	/** A failure of another thread is the cause of an error. */
	private static boolean mayBeSlowness(Throwable failure) {
		for (Throwable ex = failure; ex != null; ex = ex.getCause()) {
			if (ex instanceof BrokenPromise) {
				return false;
			}
		}
		return failure instanceof AssertionError || failure instanceof ConditionTimeoutException
				|| failure instanceof LockLostException || failure instanceof LockNotAcquiredException
				|| (failure instanceof LockProviderException ex && ex.error() == LockError.STORE_TIMEOUT);
	}

	/** Says that an assertion has failed for which slowness is no excuse. */
	static final class BrokenPromise extends AssertionError {

		private static final long serialVersionUID = 1L;

		private BrokenPromise(AssertionError failure) {
			super(failure.getMessage(), failure);
		}

	}

}
