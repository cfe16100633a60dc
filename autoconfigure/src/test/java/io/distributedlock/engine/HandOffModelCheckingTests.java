package io.distributedlock.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import io.distributedlock.LockKey;
import io.distributedlock.LossReason;
import io.distributedlock.engine.grant.EngineLease;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.HeldGrants;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.engine.grant.RequestOutcome;
import io.distributedlock.provider.LockObserver;
import io.distributedlock.provider.ObservedEvents;

import static io.distributedlock.engine.ManualEngine.check;
import static io.distributedlock.engine.ManualEngine.together;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Explores the interleavings of hand-offs: a grant is always held, offered with an end,
 * or being released.
 */
@ExtendWith(SilentLogger.class)
class HandOffModelCheckingTests {

	static final int MANY = 2_000;

	int invocations() {
		return 10;
	}

	/** A holder, and behind it a head that waits. */
	private static final class Scene {

		private final ManualEngine fixture;

		private final ManualRequester holder;

		private final ManualRequester head;

		private final ManualRequester next;

		Scene(boolean async, LockObserver... observers) {
			this.fixture = new ManualEngine(true, LockSettings.defaults(), observers);
			this.holder = this.fixture.requester();
			this.next = this.fixture.requester();
			check(this.holder.step(), "the first request is not served");
			this.head = async ? this.fixture.asyncRequester() : this.fixture.requester();
			check(!this.head.step(), "two holders");
		}

		/** Lets the next waiter join the queue. */
		Scene withNext() {
			check(!this.next.step(), "two holders");
			return this;
		}

		HeldGrants heldGrants() {
			return this.fixture.engine.context().heldGrants();
		}

		HeldGrant grant() {
			return this.holder.request.lease().grants().get(0);
		}

		/** Serves a request, which was signalled for it. */
		void serve(ManualRequester requester) {
			this.fixture.environment.runTasks();
			check(requester.isSignalled() && requester.step() && requester.isHeld(), "a waiter is not served");
			requester.release();
		}

		void checkNothingRemains() {
			this.fixture.checkNothingRemains();
		}

	}

	private void explore(Runnable scenario) {
		Exploration.run(invocations(), scenario);
	}

	/**
	 * Shows that a switch is explored at a single place: a check that cannot fail shows
	 * nothing.
	 */
	@Test
	@Tag("full")
	void switchInsideAReleaseIsExplored() {
		assertThatThrownBy(() -> Exploration.run(MANY, () -> {
			AtomicBoolean inside = new AtomicBoolean();
			Scene scene = new Scene(false, new ObservedEvents() {

				@Override
				protected void holdEnded(LockKey key) {
					inside.set(true);
					inside.set(false);
				}

			});
			together(scene.holder::release, () -> check(!inside.get(), "a switch inside the release"));
		})).hasMessageContaining("a switch inside the release");
	}

	@Test
	void releaseMeetsAnArrival() {
		explore(() -> {
			Scene scene = new Scene(false);
			together(scene.holder::release, scene.next::step);
			boolean barged = scene.next.isHeld();
			check(!barged || !scene.head.step(), "two holders");
			if (barged) {
				scene.next.release();
			}
			scene.serve(scene.head);
			if (!barged) {
				scene.serve(scene.next);
			}
			scene.checkNothingRemains();
		});
	}

	@Test
	@Tag("full")
	void pickUpMeetsAnArrival() {
		explore(() -> {
			Scene scene = new Scene(false);
			scene.holder.release();
			AtomicInteger holders = new AtomicInteger();
			Runnable[] steps = new Runnable[2];
			ManualRequester[] requesters = { scene.head, scene.next };
			for (int i = 0; i < 2; i++) {
				ManualRequester requester = requesters[i];
				steps[i] = () -> {
					if (requester.step()) {
						check(holders.incrementAndGet() == 1, "two holders");
						holders.decrementAndGet();
						requester.release();
					}
				};
			}
			together(steps[0], steps[1]);
			for (ManualRequester requester : requesters) {
				if (requester.request.outcome() == null) {
					scene.serve(requester);
				}
			}
			scene.checkNothingRemains();
		});
	}

	@Test
	@Tag("full")
	void releaseMeetsAHeadThatLeaves() {
		explore(() -> {
			Scene scene = new Scene(false);
			together(scene.holder::release, scene.head.request::abandon);
			scene.checkNothingRemains();
		});
	}

	@Test
	@Tag("full")
	void offerIsPassedOnWhenTheHeadLeaves() {
		explore(() -> {
			Scene scene = new Scene(false).withNext();
			together(scene.holder::release, scene.head.request::abandon);
			scene.serve(scene.next);
			scene.checkNothingRemains();
		});
	}

	@Test
	@Tag("full")
	void releaseMeetsTheCancellationOfAHeadWithoutAThread() {
		explore(() -> {
			Scene scene = new Scene(true).withNext();
			together(scene.holder::release, scene.head.request::abandon);
			check(!scene.head.isHeld(), "a cancelled request holds the lock");
			scene.serve(scene.next);
			scene.checkNothingRemains();
		});
	}

	@Test
	@Tag("full")
	void headWithoutAThreadHoldsAtOnce() {
		explore(() -> {
			Scene scene = new Scene(true);
			together(scene.holder::release, scene.next::step);
			check(scene.head.isHeld(), "the head does not hold the lock");
			scene.head.release();
			scene.serve(scene.next);
			scene.checkNothingRemains();
		});
	}

	@Test
	@Tag("full")
	void handleThatIsClosedTwiceEndsNoOtherHold() {
		explore(() -> {
			Scene scene = new Scene(true);
			together(scene.holder::release, scene.holder::release);
			check(scene.head.isHeld(), "the second release has ended the next hold");
			scene.head.release();
			scene.checkNothingRemains();
		});
	}

	@Test
	@Tag("full")
	void pickUpMeetsTheLossOfTheGrant() {
		explore(() -> {
			AtomicInteger reported = new AtomicInteger();
			Scene scene = new Scene(false, new LockObserver() {

				@Override
				public void onLost(LockKey key, LossReason reason) {
					reported.incrementAndGet();
				}

			});
			scene.holder.release();
			HeldGrant grant = scene.grant();
			AtomicInteger told = new AtomicInteger();
			together(() -> scene.heldGrants().lose(grant, LossReason.EXPIRED), () -> {
				if (scene.head.step()) {
					scene.head.request.lease().onLost(told::incrementAndGet);
				}
			});
			scene.fixture.environment.runTasks();
			boolean served = scene.head.request.outcome() instanceof RequestOutcome.Acquired;
			EngineLease lease = served ? scene.head.request.lease() : null;
			if (lease == null) {
				// The head met the loss before the queue knew of it.
				scene.serve(scene.head);
			}
			else {
				check(lease.grants().get(0) != grant || !lease.isHeld() && told.get() == 1,
						"the holder was told " + told.get() + " losses");
				lease.close();
			}
			check(told.get() == reported.get(), "a hold began although its grant was lost");
			check(scene.holder.request.lease().lossReason() == null, "who had released is told a loss");
			scene.checkNothingRemains();
		});
	}

	@Test
	@Tag("full")
	void releaseMeetsTheLossOfTheGrant() {
		explore(() -> {
			Scene scene = new Scene(false);
			HeldGrant grant = scene.grant();
			together(scene.holder::release, () -> scene.heldGrants().lose(grant, LossReason.EXPIRED));
			check(!grant.isCurrent(), "a grant that was lost is current again");
			scene.serve(scene.head);
			scene.checkNothingRemains();
		});
	}

	@Test
	@Tag("full")
	void offerThatNobodyPicksUpEnds() {
		explore(() -> {
			Scene scene = new Scene(false);
			HeldGrant grant = scene.grant();
			scene.holder.release();
			together(() -> {
				scene.fixture.environment.advance(Duration.ofMillis(40).toNanos());
				scene.fixture.environment.runSignals();
			}, scene.next::step);
			boolean barged = scene.next.isHeld();
			if (barged) {
				scene.next.release();
			}
			check(!grant.isOffered(), "an offer outlives its end");
			scene.serve(scene.head);
			if (!barged) {
				scene.serve(scene.next);
			}
			scene.checkNothingRemains();
		});
	}

	@Test
	@Tag("full")
	void pickUpMeetsTheEndOfTheOffer() {
		explore(() -> {
			Scene scene = new Scene(false);
			scene.holder.release();
			together(scene.fixture.environment::runSignals, scene.head::step);
			scene.fixture.environment.runTasks();
			if (scene.head.isHeld()) {
				scene.head.release();
			}
			else {
				scene.serve(scene.head);
			}
			scene.checkNothingRemains();
		});
	}

	@Test
	@Tag("full")
	void releaseMeetsTheStop() {
		explore(() -> {
			Scene scene = new Scene(false);
			together(scene.holder::release, scene.fixture.engine::beginStop);
			if (scene.head.stepOrFail()) {
				scene.head.release();
			}
			scene.checkNothingRemains();
		});
	}

	@Test
	void tokensRise() {
		explore(() -> {
			Scene scene = new Scene(true);
			together(scene.holder::release, scene.next::step);
			scene.head.release();
			check(scene.next.isHeld() || scene.next.step(), "the next waiter is not served");
			long first = scene.holder.request.lease().fencingToken().value();
			long second = scene.head.request.lease().fencingToken().value();
			long third = scene.next.request.lease().fencingToken().value();
			check(first < second && second < third, "tokens do not rise");
			scene.next.release();
			scene.checkNothingRemains();
		});
	}

}
