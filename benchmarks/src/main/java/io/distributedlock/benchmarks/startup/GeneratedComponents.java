package io.distributedlock.benchmarks.startup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * Components as an application has them: each a class of its own with ten methods, a
 * third of them with another component as their constructor's argument.
 */
final class GeneratedComponents {

	static final String PACKAGE = "application";

	static final int COUNT = 500;

	private GeneratedComponents() {
	}

	/**
	 * Writes and compiles components.
	 * @param folder an empty folder for the sources and classes
	 */
	static void compile(Path folder) throws IOException {
		Path sources = Files.createDirectories(folder.resolve(PACKAGE));
		List<String> arguments = new ArrayList<>(List.of("-nowarn", "-proc:none", "-parameters", "-cp",
				System.getProperty("java.class.path"), "-d", folder.toString()));
		for (int i = 0; i < COUNT; i++) {
			arguments.add(Files.writeString(sources.resolve("Component" + i + ".java"), source(i)).toString());
		}
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		if (compiler == null || compiler.run(null, null, null, arguments.toArray(String[]::new)) != 0) {
			throw new IllegalStateException("The components could not be compiled: is this a JDK?");
		}
	}

	private static String source(int number) {
		StringBuilder source = new StringBuilder(
				"package " + PACKAGE + ";\n@org.springframework.stereotype.Component\n")
			.append("public class Component")
			.append(number)
			.append(" {\n");
		if (number % 3 == 2) {
			source.append("\tpublic Component%d(Component%d other) {\n\t}\n".formatted(number, number - 1));
		}
		for (int i = 0; i < 10; i++) {
			source.append(
					"\tpublic String method%d(String id, int amount) {\n\t\treturn id + amount;\n\t}\n".formatted(i));
		}
		return source.append("}\n").toString();
	}

}
