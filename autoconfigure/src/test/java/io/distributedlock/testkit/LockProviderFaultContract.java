package io.distributedlock.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;

import io.distributedlock.provider.LockGrant;

import static io.distributedlock.testkit.ContractConstants.CALL_TIMEOUT;

/**
 * Contract of a {@link io.distributedlock.provider.LockProvider} while its store or the
 * network before it fails.
 * <p>
 * For a provider with a server: extend this class beside {@link LockProviderContract},
 * and let the fixture return {@linkplain LockProviderFixture#faults() faults}. A subclass
 * may run its tests concurrently; those that affect the whole store then run alone.
 * <p>
 * The parts, each an interface of this package that begins with the given words:
 * <ul>
 * <li><b>LostMessage</b>: a command or reply that is lost or late has a typed end, is
 * retried or released, and blocks its key for one lease at most.</li>
 * <li><b>BrokenConnection</b>: the same for a connection that breaks within a command or
 * is refused; held locks survive a reconnection.</li>
 * <li><b>FrozenStore</b>: while the server is stopped each call ends in time, never
 * reports a busy lock, and losses are reported by the deadline.</li>
 * <li><b>StoreState</b>: an entry that is locked or refused by the store affects no other
 * lock, an unreachable waiter costs one grace, and orders rise above a clock that was
 * ahead.</li>
 * <li><b>SlowNetwork</b>: requests that are under way together wait together.</li>
 * </ul>
 */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
@ResourceLock(providers = WholeStoreLocks.class)
public abstract class LockProviderFaultContract extends AbstractContract implements LostMessageContract,
		FrozenStoreContract, BrokenConnectionContract, StoreStateContract, SlowNetworkContract {

	private final List<TcpProxy> proxies = new ArrayList<>();

	/** Closes the test's objects; a fault without an effect fails the test. */
	@Override
	@AfterEach
	final void close() {
		List<Runnable> actions = new ArrayList<>(List.of(faults()::close, super::close));
		this.proxies.forEach((proxy) -> actions.add(proxy::close));
		CloseActions.runAll(actions);
	}

	@Override
	final void closeFaults() {
		for (TcpProxy proxy : this.proxies) {
			try {
				proxy.close();
			}
			catch (AssertionError ex) {
				// The round has failed before its fault had an effect.
				continue;
			}
		}
		this.proxies.clear();
	}

	@Override
	public final StoreFaults faults() {
		return fixture().faults()
			.orElseThrow(() -> new AssertionError("The fixture returns no faults: implement faults()"));
	}

	@Override
	public final ContractProcess process() {
		return process(new CommandLog(fixture().newProcess()));
	}

	@Override
	final Duration callTimeout() {
		return CALL_TIMEOUT;
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
		ContractProcess process = process(log);
		LockGrant grant = process.acquire(freshKey());
		process.release(grant);
		log.clear();
		return new FaultyProcess(process, log);
	}

}
