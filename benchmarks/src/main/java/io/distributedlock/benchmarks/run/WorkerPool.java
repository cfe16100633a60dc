package io.distributedlock.benchmarks.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

import io.distributedlock.benchmarks.Endpoint;
import io.distributedlock.benchmarks.contender.LeaseMode;
import io.distributedlock.benchmarks.contender.Library;

/**
 * The JVMs of all contenders of a server, started when they are needed.
 */
final class WorkerPool implements AutoCloseable {

	/** More JVMs of a contender would disturb the trials of the others. */
	private static final int KEPT = 2;

	/** Eight JVMs fit into the memory of a small machine beside the server. */
	private static final String SMALL = "512m";

	/** For tens of thousands of locks, or fifty applications. */
	private static final String LARGE = "2g";

	private final Endpoint server;

	private final RunFolder folder;

	private final Options options;

	private final Map<Library, List<Worker>> workers = new ConcurrentHashMap<>();

	WorkerPool(Endpoint server, RunFolder folder, Options options) {
		this.server = server;
		this.folder = folder;
		this.options = options;
	}

	/** Returns JVMs of a contender. */
	List<Worker> get(Library library, int count) {
		List<Worker> started = started(library);
		while (started.size() < count) {
			started.add(start(library, LeaseMode.FIXED, SMALL));
		}
		return List.copyOf(started.subList(0, count));
	}

	private List<Worker> started(Library library) {
		return this.workers.computeIfAbsent(library, (key) -> new CopyOnWriteArrayList<>());
	}

	/** Starts a JVM that the caller closes. */
	Worker start(Library library, LeaseMode mode) {
		return start(library, mode, LARGE);
	}

	private Worker start(Library library, LeaseMode mode, String heap) {
		String classPath = (library == Library.OURS_BEFORE) ? ClassPath.with(this.options.requireOursBefore())
				: ClassPath.current();
		return new Worker(Jvm.start(classPath, heap, this.folder.path(), this.folder.log(library), WorkerMain.class,
				library.label(), mode.name(), this.server.store().label(), this.server.address(),
				this.folder.memory().toString()));
	}

	/** Ends the JVMs of a contender that only its last scenario has needed. */
	void trim(Library library) {
		List<Worker> started = started(library);
		while (started.size() > KEPT) {
			started.remove(started.size() - 1).close();
		}
	}

	/** Ends the JVMs of a contender, whatever they do. */
	void kill(Library library) {
		List<Worker> started = this.workers.remove(library);
		if (started != null) {
			started.forEach(Worker::kill);
		}
	}

	@Override
	public void close() {
		List<Worker> all = new ArrayList<>();
		this.workers.values().forEach(all::addAll);
		all.forEach(Worker::beginClose);
		all.forEach(Worker::close);
		this.workers.clear();
	}

}
