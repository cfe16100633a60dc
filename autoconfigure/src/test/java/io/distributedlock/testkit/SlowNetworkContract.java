package io.distributedlock.testkit;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.testkit.WireFault.Effect;

import static io.distributedlock.testkit.ContractConstants.LONG_LEASE;
import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Part of the fault contract on a slow network: requests that are under way together wait
 * together, unless the store's driver blocks a thread for each of them.
 */
interface SlowNetworkContract extends FaultSupport {

	@Test
	default void requestsOfASlowNetworkWaitTogether() throws Exception {
		TcpProxy proxy = proxy();
		FaultyProcess process = process(proxy);
		boolean blocking = process.process().provider().isBlocking();
		int requests = blocking ? 2 : 1000;
		List<LockLease> leases;
		try (WireFault slow = proxy.onReply((packet) -> true, Effect.DELAY).by(Duration.ofMillis(100))) {
			// A call that times out on a loaded machine is repeated, and waits for its
			// release, of which few are sent at a time.
			LockTemplate locks = process.process().locks(PATIENCE);
			int threads = Thread.activeCount();
			long start = System.nanoTime();
			List<CompletableFuture<LockLease>> futures = IntStream.range(0, requests)
				.mapToObj((number) -> locks
					.acquireAsync(LockRequest.of(freshKey()).withLease(LONG_LEASE).withWaitTime(Duration.ofMinutes(1))))
				.toList();
			int more = Thread.activeCount() - threads;
			CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new)).get(1, TimeUnit.MINUTES);
			// One after the other they would take 100 seconds, eight at a time 12.
			assertThat(ContractSupport.since(start)).isLessThan(PATIENCE);
			// Engine, client and proxy may start some, but none for each request.
			assertThat(more).as("threads for the requests").isLessThan(100);
			assertThat(slow.hits()).isPositive();
			leases = futures.stream().map(CompletableFuture::join).toList();
		}
		assertThat(leases).hasSize(requests).allMatch(LockLease::isHeld);
		leases.forEach(LockLease::close);
		assertStoreIsEmpty();
	}

}
