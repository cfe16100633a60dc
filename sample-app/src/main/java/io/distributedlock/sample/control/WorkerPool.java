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
 * The workers, from the start of the control process to its end.
 */
@Component
@Profile("!" + SampleApplication.WORKER)
class WorkerPool implements SmartLifecycle {

	static final int PHASE = 0;

	static final Duration LONGEST_FREEZE = Duration.ofMinutes(2);

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final Duration PATIENCE_AT_END = Duration.ofSeconds(5);

	private static final Duration LOOK_AGAIN_AFTER = Duration.ofMillis(20);

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
		await(this.ledger::readyWorkers, PATIENCE);
		if (pids().size() < this.size) {
			throw new IllegalStateException("Only the workers " + pids() + " came up");
		}
	}

	/**
	 * Has all workers sell, and waits until those that are alive have finished. Who was
	 * killed before is replaced.
	 * @param command what they are told
	 * @param duration how long the sale takes at most if nobody is hindered
	 */
	void sell(SellCommand command, Duration duration) {
		fillUp();
		alive().forEach((worker) -> worker.send(command));
		await(() -> this.ledger.finishedWorkers(command.eventId()), duration.plus(LONGEST_FREEZE).plus(PATIENCE));
	}

	List<WorkerProcess> alive() {
		return this.workers.stream().filter(WorkerProcess::isAlive).toList();
	}

	private List<Long> pids() {
		return alive().stream().map(WorkerProcess::pid).toList();
	}

	private void await(Supplier<Set<Long>> reported, Duration patience) {
		long start = System.nanoTime();
		while (!reported.get().containsAll(pids())) {
			if (System.nanoTime() - start > patience.toNanos()) {
				throw new IllegalStateException("Of the workers " + pids() + " only " + reported.get() + " answered");
			}
			LockSupport.parkNanos(LOOK_AGAIN_AFTER.toNanos());
		}
	}

	@Override
	public void stop() {
		this.workers.forEach(WorkerProcess::thaw);
		this.workers.forEach(WorkerProcess::dismiss);
		this.workers.forEach((worker) -> worker.awaitEnd(PATIENCE_AT_END));
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
