package io.distributedlock.benchmarks.scenario;

import java.util.concurrent.TimeUnit;

import org.HdrHistogram.Histogram;

/**
 * Histograms of nanoseconds, of up to five minutes each.
 */
public final class Latencies {

	private Latencies() {
	}

	/** Creates an empty histogram. */
	public static Histogram newHistogram() {
		return new Histogram(TimeUnit.MINUTES.toNanos(5), 3);
	}

	static void record(Histogram histogram, long nanos) {
		histogram.recordValue(Math.max(0, Math.min(nanos, histogram.getHighestTrackableValue())));
	}

}
