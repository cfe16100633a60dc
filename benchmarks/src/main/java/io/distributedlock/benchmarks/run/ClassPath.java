package io.distributedlock.benchmarks.run;

import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import io.distributedlock.LockOperations;

/**
 * The class path of the JVMs that are measured.
 */
final class ClassPath {

	private ClassPath() {
	}

	/** Returns the class path of this JVM. */
	static String current() {
		return System.getProperty("java.class.path");
	}

	/** Returns the class path of this JVM with another build of this library. */
	static String with(Path otherBuild) {
		Path ours = ours();
		List<String> entries = Arrays.stream(current().split(File.pathSeparator))
			.map((entry) -> Path.of(entry).toAbsolutePath().equals(ours) ? otherBuild.toString() : entry)
			.collect(Collectors.toCollection(ArrayList::new));
		if (!entries.contains(otherBuild.toString())) {
			throw new IllegalStateException("There is no " + ours + " on the class path");
		}
		return String.join(File.pathSeparator, entries);
	}

	private static Path ours() {
		try {
			return Path.of(LockOperations.class.getProtectionDomain().getCodeSource().getLocation().toURI())
				.toAbsolutePath();
		}
		catch (URISyntaxException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
