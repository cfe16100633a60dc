package io.distributedlock.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.parallel.ResourceLock;

import io.distributedlock.provider.LockGrant;

/**
 * What every provider promises while its store or the way to it fails. For providers
 * whose fixture has {@link LockProviderFixture#faults() faults}; a provider without a
 * server does not extend it.
 */
@ResourceLock(providers = WholeStore.Locks.class)
public abstract class LockProviderFaultContract
		implements LostMessageContract, FrozenStoreContract, BrokenConnectionContract, StoreStateContract {

	private final List<TcpProxy> proxies = new ArrayList<>();

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

	/** A fault that never took effect fails the test here. */
	@AfterEach
	final void close() {
		faults().close();
		this.processes.forEach(ContractProcess::close);
		this.fixture.close();
		this.proxies.forEach(TcpProxy::close);
	}

	@Override
	public final LockProviderFixture fixture() {
		return this.fixture;
	}

	@Override
	public final StoreFaults faults() {
		return this.fixture.faults().orElseThrow(() -> new AssertionError("The fixture can do nothing to its store"));
	}

	@Override
	public final ContractProcess process() {
		return add(new CommandLog(this.fixture.newProcess()));
	}

	@Override
	public final TcpProxy proxy() {
		TcpProxy proxy = new TcpProxy(faults().servers());
		this.proxies.add(proxy);
		return proxy;
	}

	@Override
	public final FaultyProcess process(TcpProxy proxy) {
		CommandLog log = new CommandLog(faults().newProcess(proxy));
		ContractProcess process = add(log);
		LockGrant grant = process.acquire(freshKey());
		process.release(grant);
		log.clear();
		return new FaultyProcess(process, log);
	}

	private ContractProcess add(CommandLog log) {
		ContractProcess process = new ContractProcess(new CountingLockProvider(log, this.grants));
		this.processes.add(process);
		return process;
	}

}
