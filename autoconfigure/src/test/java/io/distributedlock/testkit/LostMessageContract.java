package io.distributedlock.testkit;

import java.time.Duration;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.testkit.CommandLog.Call;
import io.distributedlock.testkit.CommandLog.Kind;
import io.distributedlock.testkit.StoreFaults.Command;
import io.distributedlock.testkit.WireFault.Effect;

import static io.distributedlock.testkit.ContractConstants.CALL_TIMEOUT;
import static io.distributedlock.testkit.ContractConstants.CLEANUP_LIMIT;
import static io.distributedlock.testkit.ContractConstants.LONG_LEASE;
import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static io.distributedlock.testkit.ContractConstants.TOLERANCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Part of the fault contract on lost messages: after a lost or late command or reply the
 * call has a typed end and no entry remains.
 */
interface LostMessageContract extends FaultSupport {

	@Test
	default void acquireFailsAndIsReleasedWhenItsReplyIsLost() {
		inTwoRounds(this::assertAcquireWithoutReplyIsReleased);
	}

	private void assertAcquireWithoutReplyIsReleased() {
		LockKey key = freshKey();
		TcpProxy proxy = proxy();
		FaultyProcess process = process(proxy);
		proxy.onReplyTo(faults().packet(Command.ACQUIRE, key), Effect.BLACK_HOLE).once();
		Duration waitTime = Duration.ofMillis(500);
		FaultSupport.assertStoreFails(waitTime,
				() -> process.locks().acquire(LockRequest.of(key).withWaitTime(waitTime).withLease(LONG_LEASE)));
		// The answer to a release is unclear if the client's connection was replaced
		// meanwhile.
		await().atMost(CLEANUP_LIMIT)
			.until(() -> !process.log().outcomes(Kind.RELEASE).isEmpty() && fixture().heldEntries() == 0);
		process().acquire(key);
	}

	@Test
	default void lostReplyToAReleaseFreesTheLockAndKeepsTheResult() {
		assertReleased(true, LostMessageContract::execute);
	}

	@Test
	default void lostReplyToAnAsyncReleaseFreesTheLockAndKeepsTheResult() {
		assertReleased(true, LostMessageContract::executeAsync);
	}

	@Test
	default void asyncReleaseIsRetriedAfterItsRequestIsLost() {
		assertReleased(false, LostMessageContract::closeAsync);
	}

	@Test
	default void releaseIsRetriedAfterItsRequestIsLost() {
		assertReleased(false, LostMessageContract::execute);
	}

	private static String execute(LockTemplate locks, LockRequest request, Runnable ended) {
		return locks.execute(request, (lease) -> {
			ended.run();
			return "result";
		});
	}

	private static String executeAsync(LockTemplate locks, LockRequest request, Runnable ended) {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> result = locks.executeAsync(request, (lease) -> work);
		ended.run();
		work.complete("result");
		return Objects.requireNonNull(result).orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
	}

	private static String closeAsync(LockTemplate locks, LockRequest request, Runnable ended) {
		LockLease lease = locks.acquire(request);
		ended.run();
		lease.closeAsync().orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
		return "result";
	}

	private void assertReleased(boolean reply, LockedWork work) {
		inTwoRounds(() -> {
			LockKey key = freshKey();
			TcpProxy proxy = proxy();
			FaultyProcess process = process(proxy);
			Predicate<byte[]> release = faults().packet(Command.RELEASE, key);
			(reply ? proxy.onReplyTo(release, Effect.BLACK_HOLE) : proxy.onRequest(release, Effect.BLACK_HOLE)).once();
			assertReleased(process, key, work);
			if (!reply) {
				await().atMost(CLEANUP_LIMIT)
					.until(() -> process.log()
						.outcomes(Kind.RELEASE)
						.stream()
						.anyMatch((outcome) -> outcome != ReleaseOutcome.UNKNOWN));
			}
		});
	}

	private void assertReleased(FaultyProcess process, LockKey key, LockedWork work) {
		int before = process.log().outcomes(Kind.RELEASE).size();
		LockRecorder recorder = new LockRecorder();
		LockTemplate locks = process.process().locks(recorder);
		long[] bodyEnded = new long[1];
		String result = work.run(locks, LockRequest.of(key).withLease(LONG_LEASE),
				() -> bodyEnded[0] = System.nanoTime());
		assertThat(result).isEqualTo("result");
		assertThat(ContractSupport.since(bodyEnded[0])).isLessThanOrEqualTo(CALL_TIMEOUT.plus(TOLERANCE));
		await().atMost(CLEANUP_LIMIT).untilAsserted(() -> {
			// A blocking driver may end the lost call after the next one has been
			// answered.
			assertThat(process.log().outcomes(Kind.RELEASE).stream().skip(before)).hasSizeGreaterThanOrEqualTo(2)
				.contains(ReleaseOutcome.UNKNOWN);
			assertThat(fixture().heldEntries()).isZero();
		});
		Rounds.promise(() -> assertThat(recorder.events()).noneMatch((event) -> event.startsWith("lost")));
		process().acquire(key);
	}

	@Test
	default void renewalIsRetriedAfterItsReplyIsLost() {
		assertRenewed(true);
	}

	@Test
	default void renewalIsRetriedAfterItsRequestIsLost() {
		assertRenewed(false);
	}

	private void assertRenewed(boolean reply) {
		inRounds(shortLease(), (leaseTime) -> assertRenewed(reply, leaseTime));
	}

	private void assertRenewed(boolean reply, Duration leaseTime) {
		LockKey key = freshKey();
		TcpProxy proxy = proxy();
		FaultyProcess process = process(proxy);
		ContractProcess rival = process();
		WireFault fault = reply ? proxy.onReplyTo(faults().packet(Command.RENEWAL, key), Effect.BLACK_HOLE).once()
				: proxy.onRequest(faults().packet(Command.RENEWAL, key), Effect.BLACK_HOLE).once();
		try (LockLease lease = FaultSupport.acquired(process.locks(), LockRequest.of(key).withLease(leaseTime))) {
			await().atMost(PATIENCE).until(() -> fault.hits() == 1);
			ContractSupport.assertStays(leaseTime, () -> ContractSupport.isHeldAlone(lease, rival, key));
		}
		assertThat(process.log().longest(Kind.RENEWAL)).isLessThanOrEqualTo(leaseTime.dividedBy(6).plus(TOLERANCE));
		assertStoreIsEmpty();
	}

	@Test
	default void lateAcquireAfterItsReleaseEndsWithinOneLease() {
		inRounds(Duration.ofSeconds(2), this::assertLateAcquireEnds);
	}

	private void assertLateAcquireEnds(Duration leaseTime) {
		LockKey key = freshKey();
		TcpProxy proxy = proxy();
		FaultyProcess process = process(proxy);
		WireFault fault = proxy.onRequest(faults().packet(Command.ACQUIRE, key), Effect.HOLD).once();
		faults().cancellation().ifPresent((packet) -> proxy.onRequest(packet, Effect.CUT));
		Duration waitTime = Duration.ofMillis(500);
		FaultSupport.assertStoreFails(waitTime,
				() -> process.locks().acquire(LockRequest.of(key).withWaitTime(waitTime).withLease(leaseTime)));
		OwnerId lost = process.log()
			.calls(Kind.ATTEMPT)
			.reduce((first, last) -> last)
			.orElseThrow()
			.owners()
			.iterator()
			.next();
		await().atMost(CLEANUP_LIMIT).until(() -> ended(process, lost, ReleaseOutcome.NOT_HELD));
		assertThat(fixture().heldEntries()).isZero();
		fault.close();
		long arrived = System.nanoTime();
		await("the late grant").pollInterval(Duration.ofMillis(1))
			.atMost(leaseTime)
			.until(() -> fixture().heldEntries() == 1 || ended(process, lost, ReleaseOutcome.RELEASED));
		await().atMost(leaseTime.plus(TOLERANCE)).until(() -> fixture().heldEntries() == 0);
		assertThat(ContractSupport.since(arrived)).isLessThanOrEqualTo(leaseTime.plus(TOLERANCE));
		try (LockLease lease = FaultSupport.acquired(process.locks(),
				LockRequest.of(freshKey()).withLease(LONG_LEASE))) {
			lease.ensureHeld();
		}
		Set<OwnerId> owners = new HashSet<>();
		Rounds.promise(() -> {
			assertThat(process.log().calls(Kind.RENEWAL)).noneMatch((call) -> call.owners().contains(lost));
			assertThat(process.log().calls(Kind.ATTEMPT).map(Call::owners)).allMatch((owner) -> owners.addAll(owner));
		});
		process().acquire(key);
	}

	private static boolean ended(FaultyProcess process, OwnerId owner, ReleaseOutcome outcome) {
		return process.log()
			.calls(Kind.RELEASE)
			.anyMatch((call) -> call.owners().contains(owner) && call.outcome() == outcome);
	}

}
