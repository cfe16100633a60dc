package io.distributedlock.benchmarks.inprocess;

import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Lets JMH measure the benchmarks of this package, each in JVMs of its own.
 */
public final class InProcessMain {

	private InProcessMain() {
	}

	/**
	 * Measures.
	 * @param arguments the file of the results
	 * @throws RunnerException if a benchmark fails
	 */
	public static void main(String[] arguments) throws RunnerException {
		new Runner(new OptionsBuilder().include(InProcessMain.class.getPackageName() + "\\..*")
			.mode(Mode.AverageTime)
			.timeUnit(TimeUnit.NANOSECONDS)
			.forks(1)
			.warmupIterations(3)
			.warmupTime(TimeValue.seconds(1))
			.measurementIterations(3)
			.measurementTime(TimeValue.seconds(1))
			.addProfiler(GCProfiler.class)
			.jvmArgsAppend("-Xmx1g")
			.resultFormat(ResultFormatType.JSON)
			.result(arguments[0])
			.shouldFailOnError(true)
			.build()).run();
	}

}
