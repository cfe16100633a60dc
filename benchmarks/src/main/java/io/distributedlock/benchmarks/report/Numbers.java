package io.distributedlock.benchmarks.report;

import java.util.Locale;

/**
 * Numbers as people read them.
 */
final class Numbers {

	private Numbers() {
	}

	/** Returns a number with as many digits as mean something. */
	static String text(double value) {
		double size = Math.abs(value);
		if (size >= 100 || value == Math.rint(value)) {
			return String.format(Locale.ROOT, "%,.0f", value);
		}
		return String.format(Locale.ROOT, (size >= 10) ? "%.1f" : (size >= 0.1) ? "%.2f" : "%.3f", value);
	}

}
