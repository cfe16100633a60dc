package io.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.engine.queue.KeyRequest;
import io.distributedlock.engine.queue.RequestRunner;
import io.distributedlock.engine.queue.RunningRequest;
import io.distributedlock.provider.ObservedEvents;

import static io.distributedlock.engine.ManualEngine.KEY;
import static io.distributedlock.engine.ManualEngine.REQUEST;
import static org.assertj.core.api.Assertions.assertThat;

/** When a lock is handed off inside the process, and when it is released. */
class HandOffTests {

	private static final Duration MAX_TIME = Duration.ofMillis(20);

	private ManualEngine manual = new ManualEngine(true, LockSettings.defaults());

	private ManualRequester holder() {
		ManualRequester holder = this.manual.requester();
		assertThat(holder.step()).isTrue();
		return holder;
	}

	private ManualRequester waiter(LockRequest request) {
		ManualRequester waiter = this.manual.requester(request);
		assertThat(waiter.step()).isFalse();
		return waiter;
	}

	private ManualRequester waiter() {
		return waiter(REQUEST);
	}

	private static FencingToken token(ManualRequester requester) {
		return requester.request.lease().fencingToken();
	}

	/** Releases the holder's lock, and returns whether the waiter got the same grant. */
	private static boolean isHandedOff(ManualRequester holder, ManualRequester waiter) {
		holder.release();
		assertThat(waiter.isSignalled()).isTrue();
		assertThat(waiter.step()).isTrue();
		assertThat(token(waiter)).isGreaterThan(token(holder));
		return token(waiter).order() == token(holder).order();
	}

	@Test
	void nextWaiterOfTheProcessGetsTheGrant() {
		ManualRequester holder = holder();
		ManualRequester waiter = waiter();
		assertThat(isHandedOff(holder, waiter)).isTrue();
		assertThat(holder.isHeld()).isFalse();
		assertThat(holder.request.lease().lossReason()).isNull();
		waiter.release();
		this.manual.checkNothingRemains();
	}

	/** Else a request to release an earlier hold would be sent to the store. */
	@Test
	void offeredGrantIsStillOneOfThisProcess() {
		ManualRequester holder = holder();
		ManualRequester waiter = waiter();
		assertThat(this.manual.engine.hasGrant(ManualEngine.KEY)).isTrue();
		holder.release();
		assertThat(this.manual.engine.snapshot().held()).isEmpty();
		assertThat(this.manual.engine.hasGrant(ManualEngine.KEY)).isTrue();
		assertThat(waiter.step()).isTrue();
		waiter.release();
		this.manual.checkNothingRemains();
		assertThat(this.manual.engine.hasGrant(ManualEngine.KEY)).isFalse();
	}

	@Test
	void grantIsHandedOffAsLongAsItIsYoung() {
		ManualRequester holder = holder();
		this.manual.environment.advance(MAX_TIME.toNanos() - 1);
		ManualRequester second = waiter();
		assertThat(isHandedOff(holder, second)).isTrue();
		ManualRequester third = waiter();
		this.manual.environment.advance(1);
		assertThat(isHandedOff(second, third)).isFalse();
	}

	@Test
	void everythingIsReleasedIfHandOffIsSwitchedOff() {
		this.manual = new ManualEngine(true, LockSettings.defaults().withMaxHandOffTime(null));
		assertThat(isHandedOff(holder(), waiter())).isFalse();
	}

	@Test
	void headThatWantsAnotherLeaseGetsAGrantOfItsOwn() {
		assertThat(isHandedOff(holder(), waiter(REQUEST.withLease(Duration.ofSeconds(31))))).isFalse();
	}

	@Test
	void headThatWantsNoRenewalGetsAGrantOfItsOwn() {
		assertThat(isHandedOff(holder(), waiter(REQUEST.withoutRenewal()))).isFalse();
	}

	@Test
	void shortLeaseIsNotHandedOff() {
		LockRequest request = REQUEST.withLease(MAX_TIME.multipliedBy(20).minusMillis(1));
		ManualRequester holder = this.manual.requester(request);
		assertThat(holder.step()).isTrue();
		assertThat(isHandedOff(holder, waiter(request))).isFalse();
	}

	@Test
	void leaseThatIsLongEnoughIsHandedOff() {
		LockRequest request = REQUEST.withLease(MAX_TIME.multipliedBy(20));
		ManualRequester holder = this.manual.requester(request);
		assertThat(holder.step()).isTrue();
		assertThat(isHandedOff(holder, waiter(request))).isTrue();
	}

	@Test
	void grantIsNotHandedOffDuringARenewal() {
		ManualRequester holder = holder();
		ManualRequester waiter = waiter();
		assertThat(holder.request.lease().grants().get(0).claimRenewal()).isTrue();
		assertThat(isHandedOff(holder, waiter)).isFalse();
	}

	@Test
	void grantIsNotHandedOffAfterARenewalWithoutAnAnswer() {
		ManualRequester holder = holder();
		ManualRequester waiter = waiter();
		HeldGrant grant = holder.request.lease().grants().get(0);
		assertThat(grant.beginRenewal()).isTrue();
		grant.endRenewal();
		assertThat(isHandedOff(holder, waiter)).isFalse();
	}

	@Test
	void requestForSeveralKeysIsHandedOffOneOfThem() {
		LockKey other = LockKey.of("seats", "13B");
		LockRequest both = LockRequest.ofAll(List.of(KEY, other)).withWaitTime(Duration.ofSeconds(10));
		ManualRequester holder = holder();
		AtomicInteger signals = new AtomicInteger();
		RunningRequest request = this.manual.engine.request(both.keys(), both, new SignalledRunner(signals));
		assertThat(request.step()).isEqualTo(RunningRequest.Progress.WAIT);
		holder.release();
		assertThat(signals).hasPositiveValue();
		request.step();
		assertThat(this.manual.engine.context().heldGrants().all())
			.anySatisfy((grant) -> assertThat(grant.holdNumber()).isEqualTo(1));
		request.abandon();
	}

	@Test
	void offerThatNobodyPicksUpEnds() {
		ManualRequester holder = holder();
		ManualRequester head = waiter();
		HeldGrant grant = this.manual.engine.context().heldGrants().all().iterator().next();
		holder.release();
		this.manual.environment.runSignals();
		this.manual.environment.runTasks();
		assertThat(grant.isCurrent()).isFalse();
		assertThat(head.step()).isTrue();
		assertThat(token(head).order()).isGreaterThan(token(holder).order());
	}

	@Test
	void grantHasAThousandFurtherHoldsAtMost() {
		ManualRequester holder = holder();
		for (int hold = 0; hold < FencingToken.MAX_HOLD_NUMBER; hold++) {
			ManualRequester waiter = waiter();
			assertThat(isHandedOff(holder, waiter)).isTrue();
			holder = waiter;
		}
		assertThat(isHandedOff(holder, waiter())).isFalse();
	}

	@Test
	void headIsPassedOverAFewTimesOnly() {
		ManualRequester holder = holder();
		ManualRequester head = waiter();
		for (int passed = 0; passed < KeyRequest.MAX_OVERTAKES; passed++) {
			holder.release();
			holder = holder();
		}
		holder.release();
		ManualRequester late = waiter();
		assertThat(head.step()).isTrue();
		assertThat(isHandedOff(head, late)).isTrue();
	}

	@Test
	void headIsPassedOverForAShortWhileOnly() {
		ManualRequester holder = holder();
		ManualRequester head = waiter();
		holder.release();
		this.manual.environment.advance(KeyRequest.MAX_OVERTAKING_NANOS);
		waiter();
		assertThat(head.step()).isTrue();
	}

	@Test
	void requestWithOtherTermsDoesNotTakeWhatIsOffered() {
		ManualRequester holder = holder();
		ManualRequester head = waiter();
		holder.release();
		waiter(REQUEST.withoutRenewal());
		assertThat(head.step()).isTrue();
	}

	@Test
	void longestHoldCountsFromTheHandOff() {
		LockRequest request = REQUEST.withMaxHold(Duration.ofSeconds(5));
		ManualRequester holder = this.manual.requester(request);
		assertThat(holder.step()).isTrue();
		ManualRequester waiter = waiter(request);
		this.manual.environment.advance(Duration.ofMillis(10).toNanos());
		assertThat(isHandedOff(holder, waiter)).isTrue();
		assertThat(waiter.request.lease().remaining()).isEqualTo(Duration.ofSeconds(5));
	}

	@Test
	void snapshotTellsSinceWhenTheHolderHoldsTheLock() {
		ManualRequester holder = holder();
		ManualRequester waiter = waiter();
		this.manual.environment.advance(Duration.ofMillis(10).toNanos());
		assertThat(isHandedOff(holder, waiter)).isTrue();
		this.manual.environment.advance(Duration.ofMillis(3).toNanos());
		assertThat(this.manual.engine.snapshot().held()).singleElement()
			.satisfies((held) -> assertThat(held.heldFor()).isEqualTo(Duration.ofMillis(3)));
	}

	@Test
	void lossIsToldToThePresentHolderOnly() {
		List<String> told = new ArrayList<>();
		ManualRequester holder = holder();
		holder.request.lease().onLost(() -> told.add("first"));
		ManualRequester waiter = waiter();
		assertThat(isHandedOff(holder, waiter)).isTrue();
		waiter.request.lease().onLost(() -> told.add("second"));
		this.manual.engine.context().heldGrants().forceRelease(KEY);
		this.manual.environment.runTasks();
		assertThat(told).containsExactly("second");
		assertThat(waiter.request.lease().lossReason()).isEqualTo(LossReason.FORCED);
		this.manual.checkNothingRemains();
	}

	@Test
	void lossOfWhatIsOfferedIsToldToNobody() {
		ManualRequester holder = holder();
		List<String> told = new ArrayList<>();
		holder.request.lease().onLost(() -> told.add("holder"));
		ManualRequester head = waiter();
		holder.release();
		assertThat(this.manual.engine.context().heldGrants().forceRelease(KEY)).isTrue();
		this.manual.environment.runTasks();
		assertThat(told).isEmpty();
		assertThat(holder.request.lease().lossReason()).isNull();
		assertThat(head.step()).isTrue();
		assertThat(token(head).order()).isGreaterThan(token(holder).order());
	}

	@Test
	void headOfAnEngineThatStopsIsRefusedWhatIsOffered() {
		ManualRequester holder = holder();
		ManualRequester head = waiter();
		holder.release();
		this.manual.engine.beginStop();
		assertThat(head.stepOrFail()).isFalse();
		assertThat(head.hasFailed()).isTrue();
		this.manual.checkNothingRemains();
	}

	@Test
	void observersAreToldOfHandOffs() {
		List<String> events = new ArrayList<>();
		this.manual = new ManualEngine(true, LockSettings.defaults(), new ObservedEvents() {
			@Override
			public void onHandOff(LockKey key) {
				events.add("hand-off");
			}

			@Override
			protected void holdStarted(LockKey key) {
				events.add("start");
			}

			@Override
			protected void holdEnded(LockKey key) {
				events.add("end");
			}
		});
		ManualRequester holder = holder();
		ManualRequester waiter = this.manual.asyncRequester();
		assertThat(waiter.step()).isFalse();
		holder.release();
		assertThat(waiter.isHeld()).isTrue();
		waiter.release();
		assertThat(events).containsExactly("start", "end", "hand-off", "start", "end");
	}

	/** A runner that counts its signals. */
	private record SignalledRunner(AtomicInteger signals) implements RequestRunner {

		@Override
		public void signal() {
			this.signals.incrementAndGet();
		}

		@Override
		public boolean mayBlock() {
			return true;
		}

		@Override
		public String requester() {
			return "test";
		}

	}

}
