package io.distributedlock.sample.control;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;
import org.springframework.util.ClassUtils;

import io.distributedlock.sample.SampleApplication;

/**
 * Launcher of worker processes: the same program on the same JVM, with another profile.
 */
@Component
@Profile("!" + SampleApplication.WORKER)
class WorkerLauncher {

	private final JdbcConnectionDetails database;

	private final ObjectProvider<LockServer> locks;

	WorkerLauncher(JdbcConnectionDetails database, ObjectProvider<LockServer> locks) {
		this.database = database;
		this.locks = locks;
	}

	WorkerProcess launch() {
		ProcessBuilder builder = new ProcessBuilder(command()).redirectOutput(Redirect.INHERIT)
			.redirectError(Redirect.INHERIT);
		// Every user of the machine can read the arguments of a process.
		Map<String, String> environment = builder.environment();
		environment.put("SPRING_PROFILES_ACTIVE", SampleApplication.WORKER);
		environment.put("SAMPLE_CONTROL_PID", Long.toString(ProcessHandle.current().pid()));
		// Any free port: those of the control process may be set by environment
		// variables.
		environment.put("SERVER_PORT", "0");
		environment.remove("MANAGEMENT_SERVER_PORT");
		environment.put("SPRING_DATASOURCE_URL", this.database.getJdbcUrl());
		environment.put("SPRING_DATASOURCE_USERNAME", Objects.requireNonNull(this.database.getUsername()));
		environment.put("SPRING_DATASOURCE_PASSWORD", Objects.requireNonNull(this.database.getPassword()));
		this.locks.ifAvailable((server) -> {
			environment.put("SPRING_PROFILES_ACTIVE", SampleApplication.WORKER + "," + server.profile());
			environment.putAll(server.workerEnvironment());
		});
		try {
			return new WorkerProcess(builder.start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException("No worker could be started", ex);
		}
	}

	private static List<String> command() {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(List.of("-Xmx128m", "-XX:TieredStopAtLevel=1"));
		String classPath = System.getProperty("java.class.path");
		if (runsFromExecutableJar()) {
			command.addAll(List.of("-jar", classPath));
		}
		else {
			command.addAll(List.of("-cp", classPath, SampleApplication.class.getName()));
		}
		return command;
	}

	private static boolean runsFromExecutableJar() {
		return !ClassUtils.isPresent(SampleApplication.class.getName(), ClassLoader.getSystemClassLoader());
	}

}
