package io.distributedlock.benchmarks.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Starts JVMs like this one.
 */
final class Jvm {

	private Jvm() {
	}

	/**
	 * Starts a JVM.
	 * @param classPath its class path
	 * @param heap the most heap that it has, such as {@code 2g}
	 * @param folder where it puts temporary files
	 * @param log what it prints to its standard error
	 * @param main its main class
	 * @param arguments the arguments of that class
	 */
	static Process start(String classPath, String heap, Path folder, Path log, Class<?> main, String... arguments) {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx" + heap,
						"-XX:-UsePerfData", "-Djava.io.tmpdir=" + folder, "-cp", classPath, main.getName()));
		command.addAll(Arrays.asList(arguments));
		try {
			return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(log.toFile())).start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
