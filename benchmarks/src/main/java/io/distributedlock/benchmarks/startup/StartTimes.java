package io.distributedlock.benchmarks.startup;

/**
 * What one start took.
 *
 * @param micros the time in microseconds
 * @param mainThreadMicros the processor time of the thread that started the application
 * @param processMicros the processor time of all threads, with that of the JVM's
 * compilers
 */
record StartTimes(long micros, long mainThreadMicros, long processMicros) {

	private static final String PREFIX = "started ";

	String toLine() {
		return PREFIX + this.micros + " " + this.mainThreadMicros + " " + this.processMicros;
	}

	static StartTimes of(String output) {
		return output.lines()
			.filter((line) -> line.startsWith(PREFIX))
			.map((line) -> line.split(" "))
			.map((words) -> new StartTimes(Long.parseLong(words[1]), Long.parseLong(words[2]),
					Long.parseLong(words[3])))
			.findFirst()
			.orElseThrow(() -> new IllegalStateException("No start was measured: " + output));
	}

}
