package io.distributedlock.benchmarks.startup;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import org.springframework.util.FileSystemUtils;

/**
 * Measures what the library costs an application at its start: JVMs with and without it
 * take turns, and the difference of the medians is the result, with its share of a start.
 * Where the JDK can keep what a start has loaded and linked in a cache for later ones, it
 * is measured with that, too.
 */
public final class StartupMain {

	private static final int STARTS = 20;

	/** The first JDK whose JVM writes a cache with one option. */
	private static final int FIRST_WITH_CACHE = 25;

	private StartupMain() {
	}

	/**
	 * Measures with locks in the memory of the process, and with locks in the
	 * application's database.
	 * @param arguments none
	 * @throws Exception if an application does not start
	 */
	public static void main(String[] arguments) throws Exception {
		PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
		Path folder = Files.createTempDirectory("startup");
		try {
			measureAll(folder, out);
		}
		finally {
			FileSystemUtils.deleteRecursively(folder);
		}
	}

	private static void measureAll(Path folder, PrintStream out) throws Exception {
		Path components = Files.createDirectory(folder.resolve("components"));
		GeneratedComponents.compile(components);
		StartupClassPath classPath = new StartupClassPath(components, folder);
		List<String> without = List.of("-cp", classPath.withoutLibrary());
		List<String> with = List.of("-cp", classPath.withLibrary());
		boolean hasCache = Runtime.version().feature() >= FIRST_WITH_CACHE;
		out.println(
				"JDK " + System.getProperty("java.version") + (hasCache ? ", " : " (not measured with an AOT cache), ")
						+ STARTS + " starts each, medians (quartiles of the pairs' differences in brackets):");
		for (String provider : List.of("local", "jdbc")) {
			measure(provider, provider, without, with, out);
			if (hasCache) {
				measure(provider + " with an AOT cache", provider,
						cached(without, provider, folder.resolve(provider + "-without.aot")),
						cached(with, provider, folder.resolve(provider + "-with.aot")), out);
			}
		}
	}

	/** Lets a first start write a cache, and returns the options that use it. */
	private static List<String> cached(List<String> options, String provider, Path cache) throws Exception {
		List<String> training = new ArrayList<>(options);
		training.add("-XX:AOTCacheOutput=" + cache);
		String output = run(training, provider);
		if (!Files.exists(cache)) {
			throw new IllegalStateException("The JVM wrote no cache: " + output);
		}
		List<String> cached = new ArrayList<>(options);
		// The JVM does not start where it cannot use the cache.
		cached.addAll(List.of("-XX:AOTCache=" + cache, "-XX:AOTMode=on"));
		return cached;
	}

	private static void measure(String title, String provider, List<String> without, List<String> with, PrintStream out)
			throws Exception {
		List<StartTimes> base = new ArrayList<>();
		List<StartTimes> ours = new ArrayList<>();
		// The first pair only fills the caches of the machine.
		for (int i = 0; i <= STARTS; i++) {
			boolean oursFirst = i % 2 == 0;
			StartTimes first = start(oursFirst ? with : without, provider);
			StartTimes second = start(oursFirst ? without : with, provider);
			if (i > 0) {
				ours.add(oursFirst ? first : second);
				base.add(oursFirst ? second : first);
			}
		}
		print(title + ", time", base, ours, StartTimes::micros, out);
		print(title + ", processor time of the main thread", base, ours, StartTimes::mainThreadMicros, out);
		print(title + ", processor time of all threads", base, ours, StartTimes::processMicros, out);
	}

	private static void print(String title, List<StartTimes> base, List<StartTimes> ours,
			ToLongFunction<StartTimes> value, PrintStream out) {
		double without = quantile(0.5, base.stream().mapToLong(value));
		double with = quantile(0.5, ours.stream().mapToLong(value));
		long[] differences = IntStream.range(0, base.size())
			.mapToLong((i) -> value.applyAsLong(ours.get(i)) - value.applyAsLong(base.get(i)))
			.toArray();
		double pairs = quantile(0.5, LongStream.of(differences));
		out.printf(
				"%s: %.0f ms without, %.0f ms with the library, difference %.0f ms, of pairs %.0f ms (%.0f to %.0f),"
						+ " which is %.1f %% of the start%n",
				title, without, with, with - without, pairs, quantile(0.25, LongStream.of(differences)),
				quantile(0.75, LongStream.of(differences)), 100 * pairs / with);
	}

	/** Returns a quantile in milliseconds; interpolates between two values. */
	private static double quantile(double fraction, LongStream micros) {
		long[] sorted = micros.sorted().toArray();
		double position = fraction * (sorted.length - 1);
		int below = (int) position;
		int above = Math.min(below + 1, sorted.length - 1);
		return (sorted[below] + (position - below) * (sorted[above] - sorted[below])) / 1000.0;
	}

	private static StartTimes start(List<String> options, String provider) throws IOException, InterruptedException {
		return StartTimes.of(run(options, provider));
	}

	private static String run(List<String> options, String provider) throws IOException, InterruptedException {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(List.of("-XX:-UsePerfData", "-Xmx1g"));
		command.addAll(options);
		command.addAll(List.of(StartedApplication.class.getName(), "--distributed-lock.provider=" + provider,
				"--spring.application.name=startup", "--spring.datasource.url=jdbc:h2:mem:startup",
				"--spring.main.banner-mode=off", "--logging.level.root=WARN"));
		Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
		String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		if (process.waitFor() != 0) {
			throw new IllegalStateException("The application did not start: " + output);
		}
		return output;
	}

}
