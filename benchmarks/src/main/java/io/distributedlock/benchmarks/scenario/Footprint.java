package io.distributedlock.benchmarks.scenario;

import java.lang.management.ManagementFactory;

import com.sun.management.OperatingSystemMXBean;

/**
 * The memory and threads of a JVM.
 *
 * @param heap bytes of objects that are in use
 * @param threads live threads
 */
record Footprint(long heap, int threads) {

	private static final int COLLECTIONS = 4;

	private static final long PAUSE_MILLIS = 50;

	/** Looks at this JVM, after collections have removed what is unreachable. */
	static Footprint now() {
		for (int i = 0; i < COLLECTIONS; i++) {
			System.gc();
			pause();
		}
		return new Footprint(ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
				ManagementFactory.getThreadMXBean().getThreadCount());
	}

	/** Returns the processor time that this JVM has used, in nanoseconds. */
	static long cpuNanos() {
		return (ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system)
				? system.getProcessCpuTime() : 0;
	}

	/** Lets cleaners run for what the collector has found unreachable. */
	private static void pause() {
		try {
			Thread.sleep(PAUSE_MILLIS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	Answer answer() {
		return Answer.empty().with("heap", this.heap).with("threads", this.threads);
	}

}
