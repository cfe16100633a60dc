package io.distributedlock.testkit;

import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.assertj.core.api.ThrowingConsumer;

/**
 * Rounds of a test whose times a slow machine may exceed. A round that fails is repeated
 * with more time: a mistake fails each of them, a slow machine only the first ones.
 */
final class Rounds {

	private static final Log logger = LogFactory.getLog(Rounds.class);

	private static final int FACTOR = 4;

	/** What is too short for a loaded machine is repeated. */
	private static final Duration LONG_ENOUGH = Duration.ofSeconds(4);

	private Rounds() {
	}

	/**
	 * Runs rounds until one succeeds, or one with a long time has failed.
	 * @param first the time of the first round
	 * @param round a round, with keys and processes of its own
	 */
	static void run(Duration first, ThrowingConsumer<Duration> round) {
		Duration time = first;
		Throwable before = null;
		while (true) {
			try {
				round.accept(time);
				return;
			}
			catch (RuntimeException | AssertionError ex) {
				if (before != null) {
					ex.addSuppressed(before);
				}
				if (time.compareTo(LONG_ENOUGH) >= 0 || isInterrupted(ex)) {
					throw ex;
				}
				logger.warn("A round with " + time + " failed and is repeated with more time", ex);
				before = ex;
			}
			time = time.multipliedBy(FACTOR);
		}
	}

	/** The test is over: it took too long, or its run was ended. */
	private static boolean isInterrupted(Throwable ex) {
		return Thread.currentThread().isInterrupted() || ex.getCause() instanceof InterruptedException;
	}

}
