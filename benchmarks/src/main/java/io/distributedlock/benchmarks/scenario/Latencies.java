package io.distributedlock.benchmarks.scenario;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import java.util.zip.DataFormatException;

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

	/** Returns a histogram as text. */
	public static String encode(Histogram histogram) {
		ByteBuffer bytes = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
		byte[] encoded = new byte[histogram.encodeIntoCompressedByteBuffer(bytes)];
		bytes.flip().get(encoded);
		return Base64.getEncoder().encodeToString(encoded);
	}

	/** Returns the histogram of a text. */
	public static Histogram decode(String text) {
		try {
			return Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(Base64.getDecoder().decode(text)), 0);
		}
		catch (DataFormatException ex) {
			throw new IllegalArgumentException("This is no histogram", ex);
		}
	}

	static void record(Histogram histogram, long nanos) {
		histogram.recordValue(Math.max(0, Math.min(nanos, histogram.getHighestTrackableValue())));
	}

}
