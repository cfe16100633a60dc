package io.distributedlock.chaos;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.distributedlock.chaos.HistoryEvent.Kind;
import io.distributedlock.process.LockProcess;
import io.distributedlock.testkit.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One of the clients of a run: a process behind a proxy of its own, and after its end the
 * next one. Faults of processes and the end of the run use it, one after the other.
 */
final class ChaosClient implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	/** A machine that has much else to do takes long to start an application. */
	private static final Duration START = Duration.ofMinutes(5);

	private final String name;

	private final ChaosRun run;

	private final TcpProxy proxy;

	private int generation;

	private LockProcess process;

	/** Whether the process is there and has answered that it is ready. */
	private volatile boolean ready;

	ChaosClient(String name, ChaosRun run) {
		this.name = name;
		this.run = run;
		this.proxy = new TcpProxy(run.store().addresses());
	}

	/** The name of the client, whichever process it has. */
	String name() {
		return this.name;
	}

	/** The name of the present process. */
	String processName() {
		return this.name + "." + this.generation;
	}

	TcpProxy proxy() {
		return this.proxy;
	}

	ProcessHandle handle() {
		return this.process.handle();
	}

	boolean isReady() {
		return this.ready;
	}

	/** Starts the next process, and does not wait for it. */
	void start() {
		this.generation++;
		Path history = this.run.folder().resolve(processName() + ".jsonl");
		this.process = LockProcess.start(ChaosClientMain.class, this.run.classPath(),
				ChaosClientMain.arguments(processName(), history, this.run.register().port(),
						this.run.settings().seed() + 1000L * this.generation + this.name.hashCode(), properties()));
	}

	private List<String> properties() {
		List<String> properties = new ArrayList<>(this.run.store().properties(this.proxy::port));
		for (InetSocketAddress server : this.run.store().addresses()) {
			properties.add(ChaosClientMain.WAY + server.getPort() + "=" + this.proxy.port(server.getPort()));
		}
		return properties;
	}

	void awaitReady() {
		assertThat(this.process.answer(START)).isEqualTo("ready");
		this.ready = true;
	}

	/** Interrupts the threads that wait for a lock, and returns how many they are. */
	long interrupt() {
		return Long.parseLong(this.process.ask(ChaosClientMain.INTERRUPT));
	}

	/** Kills the process and returns its exit value. */
	int kill() throws InterruptedException {
		this.ready = false;
		this.process.kill();
		return ended(FaultKind.KILL.name());
	}

	/** Ends the process with its bodies, and returns its exit value. */
	int shutDown() throws InterruptedException {
		this.ready = false;
		assertThat(this.process.ask(ChaosClientMain.SHUTDOWN)).isEqualTo("ended");
		return ended(FaultKind.SHUTDOWN.name());
	}

	/**
	 * Ends the process after its present calls. One that does not end is killed, and is
	 * not in the history as dead: its calls have not ended.
	 */
	void stop() {
		this.ready = false;
		try {
			assertThat(this.process.ask(ChaosClientMain.STOP)).isEqualTo("ended");
			assertThat(this.process.awaitEnd(PATIENCE)).isZero();
		}
		catch (AssertionError | InterruptedException ex) {
			this.process.close();
		}
	}

	private int ended(String how) throws InterruptedException {
		int exit = this.process.awaitEnd(PATIENCE);
		this.run.log().add(new HistoryEvent(System.nanoTime(), Kind.DEATH, processName(), "", "", exit, how));
		return exit;
	}

	@Override
	public void close() {
		if (this.process != null) {
			this.process.close();
		}
		this.proxy.close();
	}

	/** The files to which the processes of a client have written. */
	List<Path> histories() {
		return IntStream.rangeClosed(1, this.generation)
			.mapToObj((number) -> this.run.folder().resolve(this.name + "." + number + ".jsonl"))
			.toList();
	}

}
