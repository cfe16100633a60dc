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

import org.springframework.boot.web.server.context.WebServerApplicationContext;
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

	/** After the web server, which shows how they start. */
	static final int PHASE = WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE + 1;

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
			List<Worker> filled = new ArrayList<>();
			for (int lane = 1; lane <= this.size; lane++) {
				Worker worker = (lane <= this.workers.size()) ? this.workers.get(lane - 1) : null;
				filled.add((worker != null && worker.isAlive()) ? worker : launch(lane));
			}
			this.workers = List.copyOf(filled);
			filled.forEach(WorkerPool::awaitReady);
		}
		finally {
			this.changing.unlock();
		}
	}

	private Worker launch(int lane) {
		Worker worker = new Worker(lane, this.launcher.launch());
		worker.process().readOutput((line) -> read(worker, line));
		return worker;
	}

	private void read(Worker worker, String line) {
		if (line.startsWith(WorkerReport.MARK)) {
			WorkerReport report = this.json.readValue(line.substring(WorkerReport.MARK.length()), WorkerReport.class);
			this.reportListener.onReport(worker, report);
			worker.receive(report);
			if (report instanceof WorkerReport.Ready) {
				worker.firstWords().forEach(System.out::println);
			}
		}
		else if (!worker.keepFirstWords(line) && !this.stopping) {
			System.out.println(line);
		}
	}

	private static void awaitReady(Worker worker) {
		boolean answered = await(() -> worker.isReady() || !worker.isAlive(), ANSWER_TIMEOUT);
		if (worker.isReady()) {
			return;
		}
		throw new WorkerStartException("Worker " + worker.lane() + " did not start: " + (answered ? worker.firstWords()
				: "it did not answer for " + ANSWER_TIMEOUT.toMinutes() + " minutes"));
	}

	/** Replaces the worker of a lane, which then takes part in a sale that is running. */
	void restart(Worker worker) {
		this.changing.lock();
		try {
			worker.process().stop();
			worker.process().awaitEnd(STOP_TIMEOUT);
			Worker successor = launch(worker.lane());
			this.workers = this.workers.stream().map((other) -> (other == worker) ? successor : other).toList();
			awaitReady(successor);
			SellCommand running = this.current;
			if (running != null) {
				command(successor, running);
			}
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
		fillUp();
		this.current = command;
		try {
			this.workers.forEach((worker) -> command(worker, command));
			disturbance.run();
			if (!await(() -> this.workers.stream().noneMatch(Worker::isBusy),
					duration.plus(LONGEST_FREEZE).plus(ANSWER_TIMEOUT))) {
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

	private void command(Worker worker, SellCommand command) {
		worker.command(command.eventId(), this.json.writeValueAsString(command));
	}

	/** Waits for a worker that has just acquired the lock. */
	Worker awaitNewHolder() {
		await(() -> findNewHolder().isPresent(), ANSWER_TIMEOUT);
		return findNewHolder().or(this::findHolder).orElseThrow();
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
