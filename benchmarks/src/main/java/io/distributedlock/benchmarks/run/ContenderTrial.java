package io.distributedlock.benchmarks.run;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.contender.LeaseMode;
import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.scenario.Answer;
import io.distributedlock.benchmarks.scenario.Measurement;
import io.distributedlock.benchmarks.scenario.Scenario;
import io.distributedlock.benchmarks.scenario.SharedMemory;
import io.distributedlock.benchmarks.scenario.Task;
import io.distributedlock.benchmarks.scenario.Trial;
import io.distributedlock.benchmarks.server.Counters;

/**
 * A trial of a contender against the server of the run.
 */
final class ContenderTrial implements Trial {

	private static final AtomicLong NUMBERS = new AtomicLong();

	private static final Duration SHORTEST_LIMIT = Duration.ofMinutes(2);

	private final Library library;

	private final Scenario scenario;

	private final Options options;

	private final ServerUnderTest server;

	private final long number = NUMBERS.incrementAndGet();

	private @Nullable Worker alone;

	ContenderTrial(Library library, Scenario scenario, Options options, ServerUnderTest server) {
		this.library = library;
		this.scenario = scenario;
		this.options = options;
		this.server = server;
	}

	/**
	 * Measures.
	 * @return the result
	 * @throws Exception if the contender fails; its JVMs have ended then
	 */
	Measurement measure() throws Exception {
		try {
			Measurement measurement = this.scenario.measure(this);
			Worker worker = this.alone;
			if (worker != null) {
				worker.close();
			}
			this.server.workers().trim(this.library);
			return measurement;
		}
		catch (Exception ex) {
			Worker worker = this.alone;
			if (worker != null) {
				worker.kill();
			}
			this.server.workers().kill(this.library);
			throw ex;
		}
	}

	@Override
	public Duration duration() {
		return this.options.duration();
	}

	@Override
	public Duration warmUp(int processes) {
		boolean warm = this.server.workers()
			.get(this.library, processes)
			.stream()
			.allMatch((worker) -> worker.knows(this.scenario.name()));
		return warm ? Duration.ZERO : this.options.warmUp();
	}

	@Override
	public List<Answer> run(int processes, Task task) {
		List<Worker> workers = this.server.workers().get(this.library, processes);
		for (int process = 0; process < processes; process++) {
			workers.get(process).begin(task.with(Task.TRIAL, this.number).with(Task.PROCESS, process));
		}
		return workers.stream().map((worker) -> worker.end(task, limit())).toList();
	}

	@Override
	public Answer runAlone(Task task) {
		Worker worker = this.alone;
		if (worker == null) {
			worker = this.server.workers()
				.start(this.library, this.scenario.renews() ? LeaseMode.RENEWED : LeaseMode.FIXED);
			this.alone = worker;
		}
		worker.begin(task.with(Task.TRIAL, this.number).with(Task.PROCESS, 0));
		return worker.end(task, limit());
	}

	/** Returns how long a task may take before the trial is given up. */
	private Duration limit() {
		return SHORTEST_LIMIT
			.plus(this.scenario.estimate(this.options.duration(), this.server.server().endpoint().store())
				.multipliedBy(5));
	}

	@Override
	public Counters counters() {
		return this.server.server().counters();
	}

	@Override
	public long size() {
		return this.server.server().size();
	}

	@Override
	public SharedMemory memory() {
		return this.server.memory();
	}

}
