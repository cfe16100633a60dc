package io.distributedlock.sample.control;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.SampleProperties;
import io.distributedlock.sample.SellCommand;

/**
 * The worker processes, from the start of the control process to its end.
 */
@Component
@Profile("!" + SampleApplication.WORKER)
class WorkerPool implements SmartLifecycle {

	static final int PHASE = 0;

	static final Duration LONGEST_FREEZE = Duration.ofMinutes(2);

	private static final Duration ANSWER_TIMEOUT = Duration.ofMinutes(4);

	private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

	private static final Duration POLL_INTERVAL = Duration.ofMillis(20);

	private final WorkerLauncher launcher;

	private final SalesLedger ledger;

	private final int size;

	private volatile List<WorkerProcess> workers = List.of();

	WorkerPool(WorkerLauncher launcher, SalesLedger ledger, SampleProperties properties) {
		this.launcher = launcher;
		this.ledger = ledger;
		this.size = properties.workers();
	}

	@Override
	public void start() {
		fillUp();
	}

	private void fillUp() {
		Stream<WorkerProcess> missing = Stream.generate(this.launcher::launch).limit(this.size - pids().size());
		this.workers = Stream.concat(alive().stream(), missing).toList();
		await(() -> this.ledger.workerPorts().keySet(), ANSWER_TIMEOUT);
		if (pids().size() < this.size) {
			throw new IllegalStateException("Only the workers " + pids() + " have started");
		}
	}

	/**
	 * Sends the command to all workers, and waits until those that are alive have
	 * finished. Killed workers are replaced before.
	 * @param command the command
	 * @param duration how long the sale takes at most if no worker is frozen
	 */
	void sell(SellCommand command, Duration duration) {
		fillUp();
		alive().forEach((worker) -> worker.send(command));
		await(() -> this.ledger.finishedWorkers(command.eventId()), duration.plus(LONGEST_FREEZE).plus(ANSWER_TIMEOUT));
	}

	List<WorkerProcess> alive() {
		return this.workers.stream().filter(WorkerProcess::isAlive).toList();
	}

	private List<Long> pids() {
		return alive().stream().map(WorkerProcess::pid).toList();
	}

	private void await(Supplier<Set<Long>> reported, Duration timeout) {
		long start = System.nanoTime();
		while (!reported.get().containsAll(pids())) {
			if (System.nanoTime() - start > timeout.toNanos()) {
				throw new IllegalStateException(
						"Only the workers " + reported.get() + " of " + pids() + " answered in time");
			}
			LockSupport.parkNanos(POLL_INTERVAL.toNanos());
		}
	}

	@Override
	public void stop() {
		this.workers.forEach(WorkerProcess::thaw);
		this.workers.forEach(WorkerProcess::stop);
		this.workers.forEach((worker) -> worker.awaitEnd(STOP_TIMEOUT));
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
