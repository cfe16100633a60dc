package io.distributedlock.benchmarks.server;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * Waits for a server.
 */
final class Await {

	private Await() {
	}

	static void until(String what, Duration atMost, BooleanSupplier condition) {
		long end = System.nanoTime() + atMost.toNanos();
		while (!condition.getAsBoolean()) {
			if (System.nanoTime() - end > 0) {
				throw new IllegalStateException(what + " did not start within " + atMost.toSeconds() + " s");
			}
			try {
				Thread.sleep(5);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException(ex);
			}
		}
	}

}
