package io.distributedlock.sample.control;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.SampleProperties;
import io.distributedlock.sample.SellCommand;
import io.distributedlock.sample.WorkerReport;
import io.distributedlock.sample.WorkerReport.Held;

/**
 * The workers, one in each lane, from the start of the control process to its end.
 */
@Component
@Profile("!" + SampleApplication.WORKER)
class WorkerPool implements SmartLifecycle {

	/** After the web server and its feed, which show how they start. */
	static final int PHASE = LiveFeed.PHASE + 1;

	static final Duration LONGEST_FREEZE = Duration.ofMinutes(2);

	private static final Duration ANSWER_TIMEOUT = Duration.ofMinutes(4);

	private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

	private static final Duration POLL_INTERVAL = Duration.ofMillis(20);

	/** A holder that has had the lock for less time will still have it in a moment. */
	private static final Duration NEW_HOLD = Duration.ofMillis(250);

	private final WorkerLauncher launcher;

	private final ReportListener reportListener;

	private final JsonMapper json;

	private final int size;

	private final ReentrantLock changing = new ReentrantLock();

	private volatile List<Worker> workers = List.of();

	private volatile @Nullable SellCommand current;

	private volatile boolean stopping;

	WorkerPool(WorkerLauncher launcher, ReportListener reportListener, JsonMapper json, SampleProperties properties) {
		this.launcher = launcher;
		this.reportListener = reportListener;
		this.json = json;
		this.size = properties.workers();
	}

	@Override
	public void start() {
		fillUp();
	}

	/** Starts a worker in each lane that has none, or a dead one. */
	private void fillUp() {
		this.changing.lock();
		try {
			for (int lane = 1; lane <= this.size; lane++) {
				if (lane > this.workers.size() || !this.workers.get(lane - 1).isAlive()) {
					launch(lane);
				}
			}
			this.workers.forEach(WorkerPool::awaitReady);
		}
		finally {
			this.changing.unlock();
		}
	}

	/** Starts a worker in its lane, which has none or a dead one. */
	private Worker launch(int lane) {
		Worker worker = new Worker(lane, this.launcher.launch());
		List<Worker> changed = new ArrayList<>(this.workers);
		if (lane > changed.size()) {
			changed.add(worker);
		}
		else {
			changed.set(lane - 1, worker);
		}
		this.workers = List.copyOf(changed);
		worker.process().readOutput((line) -> read(worker, line));
		return worker;
	}

	private void read(Worker worker, String line) {
		if (line.startsWith(WorkerReport.MARK)) {
			WorkerReport report = this.json.readValue(line.substring(WorkerReport.MARK.length()), WorkerReport.class);
			this.reportListener.onReport(worker, report);
			worker.receive(report);
			if (report instanceof WorkerReport.Ready) {
				worker.firstLines().forEach(System.out::println);
			}
		}
		else if (!worker.keepFirstLine(line) && !this.stopping) {
			System.out.println(line);
		}
	}

	private static void awaitReady(Worker worker) {
		boolean answered = await(() -> worker.isReady() || !worker.isAlive(), ANSWER_TIMEOUT);
		if (worker.isReady()) {
			return;
		}
		throw new WorkerStartException("Worker " + worker.lane() + " did not start: "
				+ (answered ? lastWords(worker) : "it did not answer for " + ANSWER_TIMEOUT.toMinutes() + " minutes"));
	}

	private static String lastWords(Worker worker) {
		worker.process().awaitOutput();
		List<String> lines = worker.firstLines();
		return lines.isEmpty() ? "it ended with status " + worker.process().exitValue() : String.join("; ", lines);
	}

	/**
	 * Replaces the worker of a lane, which then takes part in a sale that is running.
	 * @return {@code false} if it was replaced before
	 */
	boolean restart(Worker worker) {
		this.changing.lock();
		try {
			if (!this.workers.contains(worker)) {
				return false;
			}
			worker.process().stop();
			worker.process().awaitEnd(STOP_TIMEOUT);
			Worker successor = launch(worker.lane());
			awaitReady(successor);
			SellCommand running = this.current;
			if (running != null) {
				command(successor, running);
			}
			return true;
		}
		finally {
			this.changing.unlock();
		}
	}

	/**
	 * Lets all workers sell, and waits until those that are alive have finished. Dead
	 * workers are replaced before.
	 * @param command the command
	 * @param disturbance what is done to the workers while they sell
	 * @param duration how long the sale takes at most if no worker is frozen
	 */
	void sell(SellCommand command, Runnable disturbance, Duration duration) {
		try {
			begin(command);
			disturbance.run();
			if (!await(() -> !isSelling(), duration.plus(LONGEST_FREEZE).plus(ANSWER_TIMEOUT))) {
				throw new IllegalStateException("The workers did not finish event " + command.eventId() + " in time");
			}
			if (this.stopping) {
				throw new IllegalStateException("The sample has ended before event " + command.eventId());
			}
		}
		finally {
			this.current = null;
		}
	}

	/** A worker that is restarted meanwhile gets the command now, or when it is ready. */
	private void begin(SellCommand command) {
		this.changing.lock();
		try {
			fillUp();
			this.current = command;
			this.workers.forEach((worker) -> command(worker, command));
		}
		finally {
			this.changing.unlock();
		}
	}

	/** Returns whether a worker has not finished the sale. */
	boolean isSelling() {
		return this.workers.stream().anyMatch(Worker::isBusy);
	}

	private void command(Worker worker, SellCommand command) {
		worker.command(command.eventId(), this.json.writeValueAsString(command));
	}

	/** Waits for a worker that has just acquired the lock, or for the end of the sale. */
	Optional<Worker> awaitNewHolder() {
		await(() -> findNewHolder().isPresent() || !isSelling(), ANSWER_TIMEOUT);
		return isSelling() ? findNewHolder().or(this::findHolder) : Optional.empty();
	}

	private Optional<Worker> findNewHolder() {
		return findHolder().filter((worker) -> worker.heldFor().compareTo(NEW_HOLD) < 0);
	}

	/**
	 * Finds the worker that has the lock, dead or alive: among those whose lease is not
	 * over, the one with the highest token.
	 */
	Optional<Worker> findHolder() {
		return this.workers.stream()
			.filter((worker) -> worker.held() != null && worker.remainingMillis() > 0)
			.max((one, other) -> Long.compare(token(one), token(other)));
	}

	private static long token(Worker worker) {
		Held held = worker.held();
		return (held != null) ? Long.parseLong(held.token()) : 0;
	}

	List<Worker> all() {
		return this.workers;
	}

	List<LaneView> lanes() {
		List<Worker> now = this.workers;
		long highest = now.stream().mapToLong(WorkerPool::token).max().orElse(0);
		return now.stream().map((worker) -> worker.view(highest)).toList();
	}

	static boolean await(BooleanSupplier condition, Duration timeout) {
		long start = System.nanoTime();
		while (!condition.getAsBoolean()) {
			if (System.nanoTime() - start > timeout.toNanos()) {
				return false;
			}
			LockSupport.parkNanos(POLL_INTERVAL.toNanos());
		}
		return true;
	}

	@Override
	public void stop() {
		this.stopping = true;
		this.workers.forEach((worker) -> worker.process().stop());
		this.workers.forEach((worker) -> worker.process().awaitEnd(STOP_TIMEOUT));
		this.workers = List.of();
	}

	@Override
	public boolean isRunning() {
		return !this.workers.isEmpty();
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
