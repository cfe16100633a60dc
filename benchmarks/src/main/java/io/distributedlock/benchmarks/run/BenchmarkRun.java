package io.distributedlock.benchmarks.run;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.report.Failure;
import io.distributedlock.benchmarks.scenario.Measurement;
import io.distributedlock.benchmarks.scenario.Scenario;
import io.distributedlock.benchmarks.scenario.Scenarios;
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

	private final Progress progress;

	BenchmarkRun(Options options, RunFolder folder, RunResources resources, RunRecord record, Progress progress) {
		this.options = options;
		this.folder = folder;
		this.resources = resources;
		this.record = record;
		this.progress = progress;
	}

	/** Returns about how long a run takes. */
	static Duration estimate(Options options) {
		Duration all = Duration.ZERO;
		for (Store store : options.stores()) {
			for (Scenario scenario : scenarios(options)) {
				int contenders = contenders(options, scenario, store).size();
				for (int round = 0; round < scenario.rounds(options.rounds()); round++) {
					all = all.plus(estimate(options, scenario, round).multipliedBy(contenders));
				}
			}
		}
		return all;
	}

	private static Duration estimate(Options options, Scenario scenario, int round) {
		Duration estimate = scenario.estimate(options.duration());
		boolean warm = scenario.needsEmptyStore() || (options.quick() && round > 0);
		// A JVM needs about a second to start.
		return warm ? estimate : estimate.plus(options.warmUp()).plusMillis(300);
	}

	private static List<Scenario> scenarios(Options options) {
		return Scenarios.all()
			.stream()
			.filter((scenario) -> options.asksFor(scenario.name(), Scenarios.isQuick(scenario)))
			.toList();
	}

	private static List<Library> contenders(Options options, Scenario scenario, Store store) {
		return Arrays.stream(Library.values())
			.filter((library) -> options.asksFor(library) && scenario.suits(library, store))
			.toList();
	}

	/** Measures everything that the options ask for. */
	void run() {
		for (Store store : this.options.stores()) {
			try {
				run(store);
			}
			catch (RuntimeException ex) {
				fail(store.label(), null, null, ex.toString());
			}
		}
	}

	private void run(Store store) {
		List<Scenario> scenarios = scenarios(this.options).stream()
			.filter((scenario) -> !contenders(this.options, scenario, store).isEmpty())
			.toList();
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
			if (round > 0 && !this.options.quick()) {
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
		for (Library library : order(contenders(this.options, scenario, target.server().endpoint().store()), round)) {
			measure(target, scenario, library, round);
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
		for (Library library : contenders(this.options, scenario, store)) {
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

	private void measure(ServerUnderTest target, Scenario scenario, Library library, int round) {
		requireRunning();
		String store = target.server().endpoint().store().label();
		String what = store + " · " + scenario.name() + " · " + library.label() + " · round " + (round + 1);
		String result = "failed";
		try {
			Measurement measurement = new ContenderTrial(library, scenario, this.options, target).measure();
			result = measurement.figures().get(0).toString();
			if (measurement.isViolation()) {
				this.record.exclude(scenario.name(), store, library);
				fail(store, scenario, library, "two holders at once: " + measurement.figures());
			}
			else {
				requireRunning();
				this.record.add(scenario.name(), store, library, round, measurement);
			}
		}
		catch (Exception ex) {
			fail(store, scenario, library, ex.toString());
		}
		this.progress.ended(estimate(this.options, scenario, round), what + ": " + result);
	}

	private void requireRunning() {
		if (this.resources.isClosing()) {
			throw new IllegalStateException("The run is over");
		}
	}

	private void fail(String store, @Nullable Scenario scenario, @Nullable Library library, String why) {
		if (!this.resources.isClosing()) {
			String reason = why.lines().findFirst().orElse(why).replaceFirst(WRAPPER, "");
			Failure failure = new Failure(store, (scenario != null) ? scenario.name() : null,
					(library != null) ? library.label() : null, reason);
			this.record.fail(failure);
			this.progress.show("FAILED: " + failure);
		}
	}

}
