package io.distributedlock.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.assertj.core.api.ThrowingConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

import io.distributedlock.provider.LockProvider;

/** Fixture and processes of one test of a contract. */
@Tag("contract")
abstract class AbstractContract implements ContractSupport {

	private final List<ContractProcess> processes = new ArrayList<>();

	private final AtomicInteger grants = new AtomicInteger();

	private LockProviderFixture fixture;

	/**
	 * Creates the fixture of one test over a store in which no key is locked.
	 * @return the fixture, closed after the test
	 */
	protected abstract LockProviderFixture createFixture();

	/** How long the engines of the processes wait for one answer of the store. */
	abstract Duration callTimeout();

	@BeforeEach
	final void open() {
		ContractSupport.pollWithoutDelay();
		this.fixture = createFixture();
	}

	/** Closes the test's objects. */
	@AfterEach
	void close() {
		List<Runnable> actions = new ArrayList<>();
		this.processes.forEach((process) -> actions.add(process::close));
		actions.add(this.fixture::close);
		CloseActions.runAll(actions);
	}

	@Override
	public final void inRounds(Duration first, ThrowingConsumer<Duration> round) {
		int before = this.processes.size();
		Rounds.run(first, round, () -> CloseActions.runAll(List.of(() -> closeProcesses(before), this::closeFaults)));
	}

	/** What a failed round has left running would slow down the next one. */
	private void closeProcesses(int before) {
		List<ContractProcess> added = this.processes.subList(before, this.processes.size());
		List<Runnable> actions = new ArrayList<>();
		added.forEach((process) -> actions.add(process::close));
		added.clear();
		CloseActions.runAll(actions);
	}

	/** Ends the faults of a round that has failed. */
	void closeFaults() {
	}

	@Override
	public final LockProviderFixture fixture() {
		return this.fixture;
	}

	/** Creates a process over a provider, closed after the test. */
	final ContractProcess process(LockProvider provider) {
		ContractProcess process = new ContractProcess(new CountingLockProvider(provider, this.grants), callTimeout());
		this.processes.add(process);
		return process;
	}

}
