package io.distributedlock.benchmarks.run;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.report.Failure;
import io.distributedlock.benchmarks.scenario.Measurement;
import io.distributedlock.benchmarks.scenario.Scenario;
import io.distributedlock.benchmarks.scenario.SharedMemory;
import io.distributedlock.benchmarks.server.StoreServer;

/**
 * Measures all contenders of all stores. In each round the contenders take turns in each
 * scenario, in an order of that round. A round has JVMs of its own, because two JVMs
 * seldom compile the same code alike; the short run has not. A contender that fails costs
 * its own figures.
 */
final class BenchmarkRun {

	/** What the threads of a scenario put around the failure of one of them. */
	private static final String WRAPPER = "^java\\.util\\.concurrent\\.ExecutionException: ";

	private final Options options;

	private final RunFolder folder;

	private final RunResources resources;

	private final RunRecord record;

	private final Plan plan;

	private final Progress progress;

	BenchmarkRun(Plan plan, RunFolder folder, RunResources resources, RunRecord record, Progress progress) {
		this.plan = plan;
		this.options = plan.options();
		this.folder = folder;
		this.resources = resources;
		this.record = record;
		this.progress = progress;
	}

	/**
	 * Measures everything that the options ask for.
	 * @throws IllegalStateException if the run was interrupted
	 */
	void run() {
		for (Store store : this.options.stores()) {
			try {
				run(store);
			}
			catch (RuntimeException ex) {
				this.progress.show(store.label() + ": " + fail(store.label(), null, null, ex.toString()));
			}
		}
		// What is not complete must not be published.
		requireRunning();
	}

	private void run(Store store) {
		List<Scenario> scenarios = this.plan.scenarios(store);
		List<Scenario> shared = scenarios.stream().filter((scenario) -> !scenario.needsEmptyStore()).toList();
		if (!shared.isEmpty()) {
			StoreServer server = start(store);
			try {
				measureShared(server, shared);
			}
			finally {
				this.resources.close(server);
			}
		}
		for (Scenario scenario : scenarios) {
			if (scenario.needsEmptyStore()) {
				measureAlone(store, scenario);
			}
		}
	}

	private StoreServer start(Store store) {
		StoreServer server = this.resources.add(StoreServer.start(store, this.folder.newFolder(store)));
		this.progress.show("Started " + store.label());
		return server;
	}

	private void measureShared(StoreServer server, List<Scenario> scenarios) {
		ServerUnderTest target = target(server);
		for (int round = 0; round < this.options.rounds(); round++) {
			if (round > 0 && this.options.extent() != Options.Extent.QUICK) {
				this.resources.close(target.workers());
				target = target(server);
			}
			for (Scenario scenario : scenarios) {
				if (round < scenario.rounds(this.options.rounds())) {
					measureInTurn(target, scenario, round);
				}
			}
		}
		this.resources.close(target.workers());
	}

	private ServerUnderTest target(StoreServer server) {
		return new ServerUnderTest(server,
				this.resources.add(new WorkerPool(server.endpoint(), this.folder, this.options)),
				SharedMemory.map(this.folder.memory()));
	}

	private void measureInTurn(ServerUnderTest target, Scenario scenario, int round) {
		Store store = target.server().endpoint().store();
		for (Library library : order(this.plan.contenders(scenario, store), round)) {
			if (!skip(store, scenario, library, round)) {
				measure(target, scenario, library, round);
			}
		}
	}

	/**
	 * Returns the contenders in the order of a round. Every other round goes backwards,
	 * so that of two each is first in turn, and each pair of rounds begins with another
	 * one.
	 */
	static List<Library> order(List<Library> contenders, int round) {
		List<Library> order = new ArrayList<>(contenders);
		Collections.rotate(order, round / 2);
		if (round % 2 == 1) {
			Collections.reverse(order);
		}
		return order;
	}

	private void measureAlone(Store store, Scenario scenario) {
		for (Library library : this.plan.contenders(scenario, store)) {
			if (skip(store, scenario, library, 0)) {
				continue;
			}
			StoreServer server = start(store);
			try {
				ServerUnderTest target = target(server);
				measure(target, scenario, library, 0);
				this.resources.close(target.workers());
			}
			finally {
				this.resources.close(server);
			}
		}
	}

	/** Passes over a contender that was measured or has failed already. */
	private boolean skip(Store store, Scenario scenario, Library library, int round) {
		boolean settled = this.record.isSettled(scenario.name(), store.label(), library, round);
		if (settled) {
			this.progress.skip(this.plan.estimate(scenario, store, round));
		}
		return settled;
	}

	private void measure(ServerUnderTest target, Scenario scenario, Library library, int round) {
		requireRunning();
		Store store = target.server().endpoint().store();
		this.progress
			.begin(store.label() + " · " + scenario.name() + " · " + library.label() + " · round " + (round + 1));
		String result = "not measured";
		try {
			Measurement measurement = new ContenderTrial(library, scenario, this.options, target).measure();
			requireRunning();
			this.record.add(scenario.name(), store.label(), library, round, measurement);
			result = measurement.isViolation() ? RunRecord.VIOLATION : measurement.figures().get(0).toString();
		}
		catch (Exception ex) {
			result = fail(store.label(), scenario, library, ex.toString());
		}
		finally {
			this.progress.ended(this.plan.estimate(scenario, store, round), result);
		}
	}

	private void requireRunning() {
		if (this.resources.isClosing()) {
			throw new IllegalStateException("The run was interrupted: go on with --resume");
		}
	}

	private String fail(String store, @Nullable Scenario scenario, @Nullable Library library, String why) {
		String reason = why.lines().findFirst().orElse(why).replaceFirst(WRAPPER, "");
		if (!this.resources.isClosing()) {
			this.record.fail(new Failure(store, (scenario != null) ? scenario.name() : null,
					(library != null) ? library.label() : null, reason));
		}
		return "FAILED: " + reason;
	}

}
