package io.distributedlock.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * What every provider promises, as sentences: extend it, say how to create the
 * {@link LockProviderFixture fixture}, and run. The first parts speak to the provider
 * itself, the others through the engine.
 */
public abstract class LockProviderContract implements GrantContract, OwnerContract, ReservationContract, KeyContract,
		ExclusionContract, WaitContract, LeaseContract, LossContract, ScopeContract, InterruptContract,
		MultiKeyContract, AsyncContract, LifecycleContract {

	private final List<ContractProcess> processes = new ArrayList<>();

	private final AtomicInteger grants = new AtomicInteger();

	private LockProviderFixture fixture;

	/**
	 * Creates the fixture of one test, over a store in which nothing is locked.
	 * @return the fixture, closed after the test
	 */
	protected abstract LockProviderFixture createFixture();

	@BeforeEach
	final void open() {
		ContractSupport.pollWithoutDelay();
		this.fixture = createFixture();
	}

	@AfterEach
	final void close() {
		this.processes.forEach(ContractProcess::close);
		this.fixture.close();
	}

	@Override
	public final LockProviderFixture fixture() {
		return this.fixture;
	}

	@Override
	public final ContractProcess process() {
		ContractProcess process = new ContractProcess(new CountingLockProvider(this.fixture.newProcess(), this.grants));
		this.processes.add(process);
		return process;
	}

}
