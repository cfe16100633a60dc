package io.distributedlock.engine.event;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.LossReason;
import io.distributedlock.ObserverScope;
import io.distributedlock.provider.AcquireObserver;
import io.distributedlock.provider.AcquireOutcome;
import io.distributedlock.provider.HoldObserver;
import io.distributedlock.provider.LockObserver;

import static org.assertj.core.api.Assertions.assertThat;

class HoldObservationTests {

	private static final FencingToken TOKEN = FencingToken.of(7, 0);

	private final List<String> events = new ArrayList<>();

	private final HoldObservation hold = new HoldObservation();

	private AcquireObservation request(LockObserver... observers) {
		return Objects
			.requireNonNull(AcquireObservation.start(List.of(observers), LockKey.of("seats"), LockMode.EXCLUSIVE));
	}

	@Test
	void holdThatIsReleasedEndsOnce() {
		this.hold.start(request(observer("a"), observer("b")), TOKEN);
		this.hold.end(null);
		this.hold.end(LossReason.EXPIRED);
		assertThat(this.events).containsExactly("a start", "b start", "a end null", "b end null");
	}

	@Test
	void holdThatIsLostBeforeItsStartEndsAfterIt() {
		this.hold.end(LossReason.FORCED);
		this.hold.end(null);
		this.hold.start(request(observer("a")), TOKEN);
		assertThat(this.events).containsExactly("a start", "a end FORCED");
		assertThat(this.hold.openScope()).isNull();
	}

	@Test
	void holdThatNeverStartedIsToldToNobody() {
		assertThat(this.hold.openScope()).isNull();
		this.hold.end(null);
		assertThat(this.events).isEmpty();
	}

	@Test
	void requestEndsOnce() {
		AcquireObservation request = request(observer("a"));
		request.end(AcquireOutcome.BUSY, null);
		request.end(AcquireOutcome.INTERRUPTED, null);
		assertThat(this.events).containsExactly("a BUSY");
	}

	@Test
	void scopesCloseInReverseOrder() {
		this.hold.start(request(observer("a"), observer("b")), TOKEN);
		this.events.clear();
		ObserverScope scope = Objects.requireNonNull(this.hold.openScope());
		scope.close();
		assertThat(this.events).containsExactly("a open", "b open", "b close", "a close");
	}

	@Test
	void observerThatFailsHidesNothingFromTheOthers() {
		AcquireObservation request = request(new Failing(false), new Failing(true), observer("a"));
		request.end(AcquireOutcome.ACQUIRED, null);
		this.hold.start(request, TOKEN);
		Objects.requireNonNull(this.hold.openScope()).close();
		this.hold.end(null);
		assertThat(this.events).containsExactly("a ACQUIRED", "a start", "a open", "a close", "a end null");
	}

	@Test
	void observersOfNothingLeaveNothing() {
		assertThat(AcquireObservation.start(List.of(new LockObserver() {
		}), LockKey.of("seats"), LockMode.SHARED)).isNull();
	}

	private LockObserver observer(String name) {
		return new LockObserver() {

			@Override
			public AcquireObserver onAcquireStart(LockKey key) {
				return new Recorder(name, HoldObservationTests.this.events);
			}

		};
	}

	private record Recorder(String name, List<String> events) implements AcquireObserver, HoldObserver {

		@Override
		public void onEnd(AcquireOutcome outcome, @Nullable Throwable failure) {
			this.events.add(this.name + " " + outcome);
		}

		@Override
		public HoldObserver onHoldStart(FencingToken token) {
			this.events.add(this.name + " start");
			return this;
		}

		@Override
		public void onEnd(@Nullable LossReason loss) {
			this.events.add(this.name + " end " + loss);
		}

		@Override
		public ObserverScope openScope() {
			this.events.add(this.name + " open");
			return () -> this.events.add(this.name + " close");
		}

	}

	/** Fails at each call, or at all but the first one. */
	private record Failing(boolean late) implements LockObserver, AcquireObserver, HoldObserver {

		@Override
		public AcquireObserver onAcquireStart(LockKey key) {
			if (!this.late) {
				throw new StackOverflowError("start");
			}
			return this;
		}

		@Override
		public void onEnd(AcquireOutcome outcome, @Nullable Throwable failure) {
			throw new IllegalStateException("end");
		}

		@Override
		public HoldObserver onHoldStart(FencingToken token) {
			return this;
		}

		@Override
		public void onEnd(@Nullable LossReason loss) {
			throw new IllegalStateException("end");
		}

		@Override
		public ObserverScope openScope() {
			return () -> {
				throw new IllegalStateException("close");
			};
		}

	}

}
