package io.distributedlock.benchmarks.scenario;

import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import io.distributedlock.benchmarks.Endpoint;
import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Contender;
import io.distributedlock.benchmarks.contender.HeldLock;
import io.distributedlock.benchmarks.contender.LeaseMode;
import io.distributedlock.benchmarks.contender.Library;

/**
 * Process of one version in a move from another library. It acquires its locks from the
 * outer to the inner one and releases them in reverse order, as often as it is told, once
 * its standard input ends.
 */
final class SideBySideProcess {

	static final String READY = "ready";

	private static final long PATIENCE_NANOS = Duration.ofMinutes(2).toNanos();

	private final List<Contender> locks;

	private SideBySideProcess(List<Contender> locks) {
		this.locks = locks;
	}

	/**
	 * Runs the process.
	 * @param arguments the old library, the store, its address, the version, the file of
	 * the shared memory and the number of rounds
	 */
	public static void main(String[] arguments) throws Exception {
		PrintStream replies = System.out;
		// What libraries print is no reply.
		System.setOut(System.err);
		Endpoint server = new Endpoint(Store.valueOf(arguments[1]), arguments[2]);
		int version = Integer.parseInt(arguments[3]);
		List<Contender> locks = new ArrayList<>();
		if (version < 3) {
			locks.add(Library.valueOf(arguments[0]).open(server, LeaseMode.FIXED));
		}
		if (version > 1) {
			locks.add(Library.OURS.open(server, LeaseMode.FIXED));
		}
		SideBySideProcess process = new SideBySideProcess(locks);
		CriticalSection section = new CriticalSection(SharedMemory.map(Path.of(arguments[4])));
		process.run("warm-up-" + version, () -> {
		});
		replies.println(READY);
		System.in.readAllBytes();
		for (int round = 0; round < Integer.parseInt(arguments[5]); round++) {
			process.run("42", () -> {
				long counter = section.enter(version);
				Thread.sleep(1);
				section.leave(counter);
			});
		}
		// Threads of libraries do not hold the JVM up.
		Runtime.getRuntime().halt(0);
	}

	private void run(String key, Contender.Body body) throws Exception {
		Deque<HeldLock> held = new ArrayDeque<>();
		for (Contender contender : this.locks) {
			held.push(acquire(contender, key));
		}
		body.run();
		for (HeldLock lock : held) {
			lock.release();
		}
	}

	/** Attempts again and again, because some libraries do not wait. */
	private static HeldLock acquire(Contender contender, String key) throws Exception {
		long start = System.nanoTime();
		while (System.nanoTime() - start < PATIENCE_NANOS) {
			HeldLock lock = contender.acquire(key, Duration.ZERO);
			if (lock != null) {
				return lock;
			}
			Thread.sleep(1);
		}
		throw new IllegalStateException("The lock '" + key + "' stays busy");
	}

}
