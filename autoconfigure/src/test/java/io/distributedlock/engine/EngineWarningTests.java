package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.event.LockEventPublisher;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.engine.queue.RunningRequest;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.LocalStore;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class EngineWarningTests {

	private static final LockRequest A = LockRequest.of(LockKey.of("a", "1"));

	private static final LockRequest BRIEF = ManualEngine.REQUEST.withLease(Duration.ofSeconds(10));

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = new LockTemplate(new LocalLockProvider(new LocalStore()),
			LockSettings.defaults(), this.timer, List.of(), List.of());

	@AfterEach
	void close() {
		this.locks.close();
		this.timer.close();
	}

	@Test
	void workNearlyAsLongAsALeaseThatIsNotRenewedIsLoggedOnce(CapturedOutput output) {
		ManualEngine manual = new ManualEngine(true);
		hold(manual, BRIEF.withoutRenewal(), Duration.ofMillis(8100));
		hold(manual, BRIEF.withoutRenewal(), Duration.ofMillis(8200));
		assertThat(warnings(output, "DL-625")).singleElement()
			.asString()
			.contains(" WARN ")
			.endsWith(
					"DL-625: The work under the lock 'seats' took 8100 ms of its lease of 10000 ms, which is not renewed"
							+ " (renew = false): work that outlasts it loses its lock. Use a longer lease, or let it be renewed");
	}

	@Test
	void workThatHasOutlastedItsLeaseCounts(CapturedOutput output) {
		ManualEngine manual = new ManualEngine(true);
		hold(manual, BRIEF.withoutRenewal(), Duration.ofSeconds(11));
		assertThat(warnings(output, "DL-625")).hasSize(1);
	}

	@Test
	void shorterWorkAndRenewedLeasesAreNotSuspected(CapturedOutput output) {
		ManualEngine manual = new ManualEngine(true);
		hold(manual, BRIEF.withoutRenewal(), Duration.ofMillis(7900));
		hold(manual, BRIEF, Duration.ofMillis(9000));
		hold(manual, BRIEF.withoutRenewal().withMaxHold(Duration.ofSeconds(5)), Duration.ofMillis(4900));
		assertThat(warnings(output, "DL-625")).isEmpty();
	}

	/** The hold that counts begins with the last key. */
	@Test
	void timeInWhichAKeyWaitsForOthersIsNotSuspected(CapturedOutput output) {
		ManualEnvironment environment = new ManualEnvironment();
		LockEngine engine = new LockEngine(new LocalLockProvider(), LockSettings.defaults(), environment,
				new LockEventPublisher(environment, List.of(), List.of()), EnclosingTransaction.NONE, () -> {
				});
		LockKey busy = LockKey.of("zebra");
		ManualRequester holder = new ManualRequester(engine, LockRequest.of(busy), true);
		assertThat(holder.step()).isTrue();
		LockRequest both = BRIEF.withKeys(List.of(LockKey.of("a"), busy)).withoutRenewal();
		RunningRequest waiting = engine.request(both.keys(), both, holder);
		assertThat(waiting.step()).isEqualTo(RunningRequest.Progress.WAIT);
		environment.advance(Duration.ofSeconds(9).toNanos());
		holder.release();
		assertThat(waiting.step()).isEqualTo(RunningRequest.Progress.ACQUIRED);
		waiting.lease().close();
		environment.runTasks();
		assertThat(warnings(output, "DL-625")).isEmpty();
	}

	@Test
	void lockThatWasNotUsedIsNotSuspected(CapturedOutput output) {
		ManualEngine manual = new ManualEngine(true);
		ManualRequester requester = manual.requester(BRIEF.withoutRenewal());
		assertThat(requester.step()).isTrue();
		manual.environment.advance(Duration.ofSeconds(9).toNanos());
		requester.request.lease().closeUnusedAsync();
		manual.environment.runTasks();
		assertThat(warnings(output, "DL-625")).isEmpty();
	}

	private static void hold(ManualEngine manual, LockRequest request, Duration work) {
		ManualRequester requester = manual.requester(request);
		assertThat(requester.step()).isTrue();
		manual.environment.advance(work.toNanos());
		requester.release();
		manual.environment.runTasks();
	}

	@Test
	void leaseTooShortForARenewalIsLoggedOnceForItsName(CapturedOutput output) {
		this.locks.acquire(A.withLease(Duration.ofSeconds(3))).close();
		this.locks.acquire(A.withLease(Duration.ofSeconds(2))).close();
		assertThat(warnings(output, "DL-626")).singleElement()
			.asString()
			.contains(" WARN ")
			.endsWith("DL-626: The lease of the lock 'a' is 3000 ms, of which a renewal may take 500 ms at most, less"
					+ " than a round trip to the store (distributed-lock.call-timeout=1000ms). Use a lease of at least"
					+ " 6000 ms, or shorten distributed-lock.call-timeout");
	}

	@Test
	void leasesThatAreLongEnoughOrNotRenewedAreNotSuspected(CapturedOutput output) {
		this.locks.acquire(A.withLease(Duration.ofSeconds(6))).close();
		this.locks.acquire(A.withLease(Duration.ofSeconds(3)).withoutRenewal()).close();
		this.locks.acquire(A).close();
		assertThat(warnings(output, "DL-626")).isEmpty();
	}

	private static List<String> warnings(CapturedOutput output, String id) {
		return output.toString().lines().filter((line) -> line.contains(id)).toList();
	}

}
