package io.distributedlock.testkit;

import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.testkit.CommandLog.Kind;
import io.distributedlock.testkit.StoreFaults.Command;
import io.distributedlock.testkit.WireFault.Effect;

import static io.distributedlock.testkit.ContractConstants.CLEANUP_LIMIT;
import static io.distributedlock.testkit.ContractConstants.LONG_LEASE;
import static io.distributedlock.testkit.ContractConstants.ONE_SECOND;
import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Part of the fault contract on connections: one that breaks within a command, one that
 * the server ends, and one that is refused.
 */
interface BrokenConnectionContract extends FaultSupport {

	@Test
	default void acquireFailsAndIsReleasedWhenItsConnectionBreaks() {
		inTwoRounds(this::assertBrokenAcquireIsReleased);
	}

	private void assertBrokenAcquireIsReleased() {
		TcpProxy proxy = proxy();
		FaultyProcess process = process(proxy);
		LockKey unsent = freshKey();
		LockKey unanswered = freshKey();
		LockKey halfClosed = freshKey();
		Map<LockKey, WireFault> faults = Map.of(unsent,
				proxy.onRequest(faults().packet(Command.ACQUIRE, unsent), Effect.CUT).once(), unanswered,
				proxy.onReplyTo(faults().packet(Command.ACQUIRE, unanswered), Effect.CUT).once(), halfClosed,
				proxy.onReplyTo(faults().packet(Command.ACQUIRE, halfClosed), Effect.HALF_CLOSE).once());
		faults.forEach((key, fault) -> {
			// The client may not know yet that the last fault has cut its connection.
			while (fault.hits() == 0) {
				FaultSupport.awaitReconnection(process.process());
				FaultSupport.assertStoreFails(Duration.ZERO, () -> process.locks()
					.acquire(LockRequest.of(key).withWaitTime(Duration.ZERO).withLease(LONG_LEASE)));
			}
		});
		await().atMost(CLEANUP_LIMIT).until(() -> fixture().heldEntries() == 0);
		await().atMost(CLEANUP_LIMIT)
			.until(() -> process.log().outcomes(Kind.RELEASE).contains(ReleaseOutcome.RELEASED));
		process().acquire(unanswered);
	}

	@Test
	default void releaseIsRetriedAfterItsConnectionBreaks() {
		TcpProxy proxy = proxy();
		FaultyProcess process = process(proxy);
		LockKey unsent = freshKey();
		LockKey unanswered = freshKey();
		proxy.onRequest(faults().packet(Command.RELEASE, unsent), Effect.CUT).once();
		proxy.onReplyTo(faults().packet(Command.RELEASE, unanswered), Effect.CUT).once();
		LockRecorder recorder = new LockRecorder();
		LockTemplate locks = process.process().locks(recorder);
		for (LockKey key : new LockKey[] { unsent, unanswered }) {
			FaultSupport.acquired(locks, LockRequest.of(key).withLease(LONG_LEASE)).close();
		}
		await().atMost(CLEANUP_LIMIT).until(() -> fixture().heldEntries() == 0);
		assertThat(recorder.events()).noneMatch((event) -> event.startsWith("lost"));
	}

	@Test
	default void renewalIsRetriedAfterItsConnectionBreaks() {
		inRounds(shortLease(), this::assertRenewalIsRetried);
	}

	private void assertRenewalIsRetried(Duration leaseTime) {
		TcpProxy proxy = proxy();
		FaultyProcess process = process(proxy);
		LockKey key = freshKey();
		WireFault unsent = proxy.onRequest(faults().packet(Command.RENEWAL, key), Effect.CUT).once();
		ContractProcess rival = process();
		try (LockLease lease = FaultSupport.acquired(process.locks(), LockRequest.of(key).withLease(leaseTime))) {
			await().atMost(PATIENCE).until(() -> unsent.hits() == 1);
			WireFault unanswered = proxy.onReplyTo(faults().packet(Command.RENEWAL, key), Effect.CUT).once();
			await().atMost(PATIENCE).until(() -> unanswered.hits() == 1);
			ContractSupport.assertStays(leaseTime, () -> ContractSupport.isHeldAlone(lease, rival, key));
		}
		assertStoreIsEmpty();
	}

	@Test
	@WholeStore
	default void acquireFailsWhenTheServerEndsItsConnection() throws Exception {
		LockKey key = freshKey();
		TcpProxy proxy = proxy();
		FaultyProcess process = process(proxy);
		try (WireFault held = proxy.onRequest(faults().packet(Command.ACQUIRE, key), Effect.HOLD).once()) {
			TestThread<LockLease> acquire = TestThread
				.start(() -> process.locks().acquire(LockRequest.of(key).withWaitTime(Duration.ZERO)));
			await().until(() -> held.hits() == 1);
			faults().killConnections();
			held.close();
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(acquire::result);
		}
		await().atMost(CLEANUP_LIMIT).until(() -> fixture().heldEntries() == 0);
		FaultSupport.acquired(process.locks(), LockRequest.of(key)).close();
	}

	@Test
	@WholeStore
	default void heldLockSurvivesTheEndOfAllConnections() {
		inRounds(shortLease(), this::assertLockSurvivesTheEndOfAllConnections);
	}

	private void assertLockSurvivesTheEndOfAllConnections(Duration leaseTime) {
		FaultyProcess process = process(proxy());
		try (LockLease lease = FaultSupport.acquired(process.locks(),
				LockRequest.of(freshKey()).withLease(leaseTime))) {
			faults().killConnections();
			ContractSupport.assertStays(leaseTime, lease::isHeld);
		}
		assertStoreIsEmpty();
	}

	@Test
	default void refusedConnectionIsAskedAgainUntilTheWaitEndsAndIsNeverBusy() {
		inRounds(ONE_SECOND, this::assertRefusedConnectionIsAskedAgain);
	}

	private void assertRefusedConnectionIsAskedAgain(Duration wait) {
		TcpProxy proxy = proxy();
		FaultyProcess process = process(proxy);
		LockKey key = freshKey();
		process().acquire(key);
		proxy.refuse();
		for (int round = 0; round < 2; round++) {
			FaultSupport.assertStoreFails(Duration.ZERO,
					() -> process.locks().tryAcquire(LockRequest.of(key).withWaitTime(Duration.ZERO)));
			long start = System.nanoTime();
			FaultSupport.assertStoreFails(wait,
					() -> process.locks().acquire(LockRequest.of(freshKey()).withWaitTime(wait)));
			Duration waited = ContractSupport.since(start);
			Rounds.promise(() -> assertThat(waited).isGreaterThanOrEqualTo(wait));
		}
	}

}
