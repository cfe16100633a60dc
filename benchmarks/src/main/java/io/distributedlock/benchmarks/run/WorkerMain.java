package io.distributedlock.benchmarks.run;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

import io.distributedlock.benchmarks.Endpoint;
import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.LeaseMode;
import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.run.Messages.Reply;
import io.distributedlock.benchmarks.scenario.Scenario;
import io.distributedlock.benchmarks.scenario.Scenarios;
import io.distributedlock.benchmarks.scenario.SharedMemory;
import io.distributedlock.benchmarks.scenario.Task;
import io.distributedlock.benchmarks.scenario.WorkerContext;

/**
 * Main class of the JVM of a contender. It does the tasks that its standard input names,
 * one after the other, and ends with that input: also if the run is killed.
 */
final class WorkerMain {

	private WorkerMain() {
	}

	/**
	 * Starts the JVM.
	 * @param arguments the library, its lease mode, the store, the address of the store
	 * and the file of the shared memory
	 */
	public static void main(String[] arguments) throws IOException {
		PrintStream replies = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
		// What libraries print is no reply.
		System.setOut(System.err);
		LazyWorkerContext worker = new LazyWorkerContext(Library.of(arguments[0]), LeaseMode.valueOf(arguments[1]),
				new Endpoint(Store.of(arguments[2]), arguments[3]), SharedMemory.map(Path.of(arguments[4])));
		Map<String, Scenario> scenarios = new HashMap<>();
		BufferedReader tasks = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		for (String line = tasks.readLine(); line != null; line = tasks.readLine()) {
			Task task = Messages.readTask(line);
			Scenario scenario = scenarios.computeIfAbsent(task.scenario(), Scenarios::of);
			replies.println(Messages.write(work(scenario, worker, task)));
		}
		worker.close();
		// Threads of libraries do not hold the JVM up.
		Runtime.getRuntime().halt(0);
	}

	private static Reply work(Scenario scenario, WorkerContext worker, Task task) {
		try {
			return new Reply(scenario.work(worker, task), null);
		}
		catch (Throwable ex) {
			StringWriter text = new StringWriter();
			ex.printStackTrace(new PrintWriter(text, true));
			return new Reply(null, text.toString());
		}
	}

}
