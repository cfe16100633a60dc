package io.distributedlock.sample.control;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.DependsOn;
import org.springframework.context.annotation.Profile;
import org.springframework.core.env.CommandLinePropertySource;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.stereotype.Component;
import org.springframework.util.ClassUtils;

import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.SampleProperties;

/**
 * Launcher of worker processes: the same program on the same JVM, with another profile.
 * The locks of this process come first: with them the table that the workers use.
 */
@Component
@DependsOn("distributedLockTemplate")
@Profile("!" + SampleApplication.WORKER)
class WorkerLauncher {

	/** Settings of a store that the user has chosen. */
	private static final List<String> SHARED = List.of("spring.datasource.", "spring.data.redis.", "distributed-lock.");

	private final JdbcConnectionDetails database;

	private final ObjectProvider<LockServer> locks;

	private final ConfigurableEnvironment environment;

	private final JsonMapper json;

	private final WorkerFiles files;

	private final String heap;

	WorkerLauncher(JdbcConnectionDetails database, ObjectProvider<LockServer> locks,
			ConfigurableEnvironment environment, JsonMapper json, WorkerFiles files, SampleProperties properties) {
		this.database = database;
		this.locks = locks;
		this.environment = environment;
		this.json = json;
		this.files = files;
		this.heap = properties.workerHeap();
	}

	WorkerProcess launch() {
		ProcessBuilder builder = new ProcessBuilder(command()).redirectErrorStream(true);
		// Every user of the machine can read the arguments of a process, but not these.
		setEnvironment(builder.environment());
		try {
			return new WorkerProcess(builder.start());
		}
		catch (IOException ex) {
			throw new WorkerStartException("No worker can be started: " + ex.getMessage(), ex);
		}
	}

	private void setEnvironment(Map<String, String> variables) {
		List<String> profiles = new ArrayList<>(List.of(SampleApplication.WORKER));
		profiles.addAll(List.of(this.environment.getActiveProfiles()));
		variables.put("SPRING_PROFILES_ACTIVE", String.join(",", profiles));
		variables.put("SPRING_APPLICATION_JSON", this.json.writeValueAsString(givenSettings()));
		variables.put("SAMPLE_CONTROL_PID", Long.toString(ProcessHandle.current().pid()));
		// Any free port: those of the control process may be set by variables.
		variables.put("SERVER_PORT", "0");
		variables.remove("MANAGEMENT_SERVER_PORT");
		putIfKnown(variables, "SPRING_DATASOURCE_URL", this.database.getJdbcUrl());
		putIfKnown(variables, "SPRING_DATASOURCE_USERNAME", this.database.getUsername());
		putIfKnown(variables, "SPRING_DATASOURCE_PASSWORD", this.database.getPassword());
		this.locks.ifAvailable((server) -> variables.putAll(server.workerEnvironment()));
	}

	private static void putIfKnown(Map<String, String> variables, String name, @Nullable String value) {
		if (value != null) {
			variables.put(name, value);
		}
	}

	/** Workers inherit environment variables, but not what the command line has set. */
	private Map<String, Object> givenSettings() {
		Map<String, Object> settings = new TreeMap<>();
		for (PropertySource<?> source : this.environment.getPropertySources()) {
			if (source instanceof EnumerablePropertySource<?> given && isOfCommandLine(given)) {
				for (String name : given.getPropertyNames()) {
					if (SHARED.stream().anyMatch(name::startsWith)) {
						settings.putIfAbsent(name, String.valueOf(given.getProperty(name)));
					}
				}
			}
		}
		return settings;
	}

	private static boolean isOfCommandLine(PropertySource<?> source) {
		return source instanceof CommandLinePropertySource
				|| source.getName().equals(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
	}

	private List<String> command() {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(List.of("-Xmx" + this.heap, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
				"-Djava.io.tmpdir=" + this.files.directory()));
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
