package io.distributedlock.sample;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import org.springframework.boot.SpringApplicationAotProcessor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Workers that were processed ahead of time, as the goal {@code spring-boot:process-aot}
 * does it: by Spring Boot's processor in a JVM of its own, and the compiler. The control
 * process is not processed, because profiles are fixed by the processing.
 */
final class ProcessedWorkers {

	private static final String CLASS_PATH = System.getProperty("java.class.path");

	private static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();

	private static final long PROCESSING_MINUTES = 2;

	private final Path classes;

	private ProcessedWorkers(Path classes) {
		this.classes = classes;
	}

	/**
	 * Processes workers.
	 * @param directory the directory for what is generated
	 * @param arguments the arguments of the processed application
	 */
	static ProcessedWorkers process(Path directory, String... arguments) throws IOException, InterruptedException {
		Path sources = directory.resolve("aot-sources");
		Path classes = directory.resolve("aot-classes");
		Path log = directory.resolve("aot.log");
		List<String> command = new ArrayList<>(List.of(JAVA, "-XX:TieredStopAtLevel=1", "-cp", CLASS_PATH,
				SpringApplicationAotProcessor.class.getName(), SampleApplication.class.getName(), sources.toString(),
				classes.toString(), classes.toString(), "io.distributedlock", "sample"));
		command.addAll(List.of(arguments));
		Process processor = new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(Redirect.to(log.toFile()))
			.start();
		try {
			assertThat(processor.waitFor(PROCESSING_MINUTES, TimeUnit.MINUTES)).isTrue();
		}
		finally {
			processor.destroyForcibly();
		}
		assertThat(processor.exitValue()).as(Files.readString(log)).isZero();
		compile(sources, classes);
		return new ProcessedWorkers(classes);
	}

	private static void compile(Path sources, Path classes) throws IOException {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		StringWriter output = new StringWriter();
		try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
				Stream<Path> generated = Files.walk(sources)) {
			List<Path> paths = generated.filter((file) -> file.toString().endsWith(".java")).toList();
			List<String> options = List.of("-nowarn", "-proc:none", "-d", classes.toString(), "-cp",
					classes + File.pathSeparator + CLASS_PATH);
			boolean compiled = compiler
				.getTask(output, files, null, options, null, files.getJavaFileObjectsFromPaths(paths))
				.call();
			assertThat(compiled).as(output.toString()).isTrue();
		}
	}

	/** Starts a control process with these workers. */
	ControlProcess start(Path directory, Map<String, String> settings) throws IOException {
		Map<String, String> all = new HashMap<>(settings);
		// The control process switches it off in its command.
		all.put("JDK_JAVA_OPTIONS", "-Dspring.aot.enabled=true");
		all.put("LOGGING_LEVEL_IO_DISTRIBUTEDLOCK_SAMPLE", "info");
		all.put("SPRING_MAIN_LOGSTARTUPINFO", "true");
		return new ControlProcess(directory, all, this.classes + File.pathSeparator + CLASS_PATH);
	}

}
