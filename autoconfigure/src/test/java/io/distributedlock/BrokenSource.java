package io.distributedlock;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import static org.assertj.core.api.Assertions.assertThat;

/** Sources of the library that tests break on purpose, to see that a check can fail. */
public final class BrokenSource {

	private static final List<Path> ROOTS = Stream.of("java", "resources")
		.map(Path.of("src", "main")::resolve)
		.toList();

	private BrokenSource() {
	}

	/**
	 * Writes a source with a change, and compiles it if it is a class.
	 * @param source the file of a class or a resource, below {@code src/main}
	 * @param text what is replaced
	 * @param replacement what replaces it
	 * @param folder where it is found by whoever looks there before the class path
	 */
	public static void write(Path source, String text, String replacement, Path folder) throws IOException {
		Path root = ROOTS.stream().filter(source::startsWith).findAny().orElseThrow();
		Path broken = folder.resolve(root.relativize(source));
		Files.createDirectories(broken.getParent());
		Files.writeString(broken, Files.readString(source).replace(text, replacement));
		if (broken.toString().endsWith(".java")) {
			compile(broken, folder);
		}
	}

	private static void compile(Path source, Path classes) throws IOException {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		StringWriter messages = new StringWriter();
		try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
			boolean compiled = compiler
				.getTask(messages, files, null,
						List.of("-nowarn", "-parameters", "-proc:none", "-implicit:none", "-d", classes.toString(),
								"-classpath", System.getProperty("java.class.path")),
						null, files.getJavaFileObjects(source))
				.call();
			assertThat(compiled).as(messages.toString()).isTrue();
		}
	}

}
