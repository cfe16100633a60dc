package io.distributedlock.chaos;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.util.FileSystemUtils;

import io.distributedlock.chaos.HistoryEvent.Kind;

import static org.awaitility.Awaitility.await;

/**
 * A run: clients that contend for locks in one store, the register that the locks guard,
 * and faults by the seed. The seed repeats the order of faults and calls, not their
 * interleaving.
 */
final class ChaosRun implements AutoCloseable {

	static final Duration LEASE = Duration.ofSeconds(3);

	static final Duration CALL_TIMEOUT = Duration.ofSeconds(1);

	private static final int CLIENTS = 4;

	private final ExecutorService executor = Executors.newCachedThreadPool();

	/** The lanes of faults, and the starts of further processes. */
	private final List<Future<?>> tasks = new ArrayList<>();

	private final Settings settings;

	private final Path folder;

	private final HistoryLog log;

	private final FencedRegister register;

	private final ChaosStore store;

	private final List<ChaosClient> clients;

	private final StoreProbe probe;

	private long end;

	ChaosRun(Settings settings) throws Exception {
		this.settings = settings;
		this.folder = settings.folder().toAbsolutePath();
		FileSystemUtils.deleteRecursively(this.folder);
		Files.createDirectories(this.folder);
		this.log = new HistoryLog(this.folder.resolve("runner.jsonl"));
		this.register = new FencedRegister(this.log);
		this.store = settings.store().start();
		this.probe = new StoreProbe(this.store, this.log);
		this.clients = IntStream.rangeClosed(1, CLIENTS)
			.mapToObj((number) -> new ChaosClient("client-" + number, this))
			.toList();
	}

	/** Runs, and returns the report, which it also writes to its folder. */
	ChaosReport run() throws InterruptedException, ExecutionException, IOException {
		this.clients.forEach(ChaosClient::start);
		this.clients.forEach(ChaosClient::awaitReady);
		this.probe.start();
		this.end = System.nanoTime() + this.settings.time().toNanos();
		// First, as a lane that has failed may be the reason for what else has.
		this.tasks.addAll(0, this.executor
			.invokeAll(Stream.of(FaultKind.Lane.values()).map((lane) -> new FaultInjector(this, lane)).toList()));
		for (Future<?> task : this.tasks) {
			task.get();
		}
		for (ChaosClient client : this.clients) {
			client.stop();
		}
		ChaosReport report = ChaosReport.of(this, history(residue()));
		report.write(this.folder);
		return report;
	}

	/** Waits until the last leases are over, and returns what is left then. */
	private HistoryEvent residue() {
		Bounds bounds = bounds();
		long deadline = System.nanoTime() + 2 * bounds.within(bounds.aftermath());
		await().atMost(Duration.ofMinutes(1))
			.pollInterval(Duration.ofMillis(500))
			.until(() -> this.store.heldEntries() == 0 || System.nanoTime() - deadline > 0);
		HistoryEvent residue = new HistoryEvent(System.nanoTime(), Kind.RESIDUE, HistoryEvent.STORE, "", "",
				this.store.heldEntries(), "");
		this.log.add(residue);
		return residue;
	}

	private History history(HistoryEvent last) throws IOException {
		List<HistoryEvent> events = new ArrayList<>(HistoryLog.read(this.folder.resolve("runner.jsonl")));
		for (ChaosClient client : this.clients) {
			for (Path file : client.histories()) {
				events.addAll(HistoryLog.read(file));
			}
		}
		if (!events.contains(last)) {
			throw new IllegalStateException("The history of the runner is not whole");
		}
		return new History(events);
	}

	/** Starts the next process of a client whose process has ended. */
	void restart(ChaosClient client) {
		this.tasks.add(this.executor.submit(() -> {
			client.start();
			client.awaitReady();
		}));
	}

	Settings settings() {
		return this.settings;
	}

	Path folder() {
		return this.folder;
	}

	HistoryLog log() {
		return this.log;
	}

	FencedRegister register() {
		return this.register;
	}

	ChaosStore store() {
		return this.store;
	}

	List<ChaosClient> clients() {
		return this.clients;
	}

	boolean goesOn() {
		return System.nanoTime() - this.end < 0;
	}

	Bounds bounds() {
		return Bounds.of(this.store.expiry(LEASE), CALL_TIMEOUT, this.store.isQueued());
	}

	/** The kinds of faults of a lane that the store can have. */
	List<FaultKind> faults(FaultKind.Lane lane) {
		return Arrays.stream(FaultKind.values())
			.filter((kind) -> kind.lane() == lane)
			.filter((kind) -> kind != FaultKind.SERVER_RESTART || this.store.isRestartable())
			.toList();
	}

	/** The class path of the clients, with what is broken on purpose before the rest. */
	String classPath() {
		String usual = System.getProperty("java.class.path");
		return (this.settings.broken() != null) ? this.settings.broken() + File.pathSeparator + usual : usual;
	}

	@Override
	public void close() throws IOException {
		this.executor.shutdownNow();
		this.probe.end();
		this.clients.forEach(ChaosClient::close);
		this.store.close();
		this.register.close();
		this.log.close();
	}

	/**
	 * What a run is told.
	 *
	 * @param folder where it writes its histories and its report
	 * @param store the store
	 * @param time for how long faults are injected
	 * @param seed the seed
	 * @param broken a folder with classes and scripts that are broken on purpose, or
	 * {@code null}
	 */
	record Settings(Path folder, StoreKind store, Duration time, long seed, @Nullable Path broken) {
	}

}
