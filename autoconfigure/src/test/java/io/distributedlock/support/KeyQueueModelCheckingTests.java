package io.distributedlock.support;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.jetbrains.lincheck.Lincheck;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;

/**
 * Explores the interleavings of the engine around the queue of one key: arrivals,
 * answers, releases, losses, interrupts and the stop.
 */
class KeyQueueModelCheckingTests {

	private static final LockKey KEY = LockKey.of("seats", "13A");

	private static final LockRequest REQUEST = LockRequest.of(KEY).withWaitTime(Duration.ofSeconds(10));

	int invocations() {
		return 300;
	}

	@Test
	void oneHolderAtATimeAndNothingRemains() {
		Lincheck.runConcurrentTest(invocations(), () -> {
			Fixture fixture = new Fixture(true);
			AtomicInteger holders = new AtomicInteger();
			Runnable user = () -> {
				Requester requester = fixture.requester();
				if (requester.step()) {
					check(holders.incrementAndGet() == 1, "two holders");
					holders.decrementAndGet();
					requester.request.lease().close();
				}
				else {
					requester.request.abandon();
				}
			};
			together(user, user);
			fixture.checkNothingRemains();
		});
	}

	@Test
	void nextWaiterIsSignalledWhenTheGrantEndsAndTheHeadLeaves() {
		Lincheck.runConcurrentTest(invocations(), () -> {
			Fixture fixture = new Fixture(true);
			Requester holder = fixture.requester();
			check(holder.step(), "the first request is not served");
			Requester head = fixture.requester();
			Requester next = fixture.requester();
			check(!head.step() && !next.step(), "two holders");
			together(() -> holder.request.lease().close(), head.request::abandon);
			check(next.isSignalled() && next.step(), "the next waiter is not served");
			next.request.lease().close();
			fixture.checkNothingRemains();
		});
	}

	@Test
	void grantThatMeetsAnInterruptIsPassedOnOrReleased() {
		Lincheck.runConcurrentTest(invocations(), () -> {
			Fixture fixture = new Fixture(false);
			Requester head = fixture.requester();
			Requester next = fixture.requester();
			check(!head.step() && !next.step(), "served without an answer");
			together(() -> fixture.provider.answer(KEY), head.request::abandon);
			fixture.environment.runTasks();
			while (!next.step()) {
				check(fixture.provider.hasAttempt(), "the next waiter neither attempts nor has the lock");
				fixture.provider.answer(KEY);
				fixture.environment.runTasks();
			}
			next.request.lease().close();
			fixture.checkNothingRemains();
		});
	}

	@Test
	void attemptThatFailsMeetsAnArrival() {
		Lincheck.runConcurrentTest(invocations(), () -> {
			Fixture fixture = new Fixture(false);
			Requester head = fixture.requester();
			check(!head.step(), "served without an answer");
			Requester next = fixture.requester();
			together(fixture.provider::fail, next::step);
			// The pause after a failure, and less than a call may take.
			fixture.environment.advance(Duration.ofMillis(100).toNanos());
			check(!next.step(), "served without an answer");
			check(fixture.provider.hasAttempt(), "the next waiter does not attempt");
			fixture.provider.answer(KEY);
			check(next.step(), "the next waiter is not served");
			next.request.lease().close();
			check(head.hasFailed(), "the first request was not told its failure");
			fixture.checkNothingRemains();
		});
	}

	@Test
	void grantThatMeetsTheStopIsGivenOrReleased() {
		Lincheck.runConcurrentTest(invocations(), () -> {
			Fixture fixture = new Fixture(false);
			Requester head = fixture.requester();
			check(!head.step(), "served without an answer");
			together(() -> fixture.provider.answer(KEY), fixture.engine::beginStop);
			if (head.stepOrFail()) {
				head.request.lease().close();
			}
			check(fixture.engine.isQuiet() || fixture.provider.hasAttempt(), "a request remains");
			fixture.provider.answer(KEY);
			fixture.checkNothingRemains();
		});
	}

	@Test
	void lossMeetsTheRelease() {
		Lincheck.runConcurrentTest(invocations(), () -> {
			Fixture fixture = new Fixture(true);
			Requester holder = fixture.requester();
			check(holder.step(), "the first request is not served");
			Hold hold = holder.request.lease();
			Requester next = fixture.requester();
			check(!next.step(), "two holders");
			together(() -> fixture.engine.context().heldGrants().lose(hold.heldGrant(), LossReason.EXPIRED),
					hold::close);
			hold.close();
			fixture.environment.runTasks();
			check(next.isSignalled() && next.step(), "the next waiter is not served");
			next.request.lease().close();
			fixture.checkNothingRemains();
		});
	}

	@Test
	void holdEndsOnceAndIsNotRenewedAfterwards() {
		Lincheck.runConcurrentTest(invocations(), () -> {
			Fixture fixture = new Fixture(true);
			LockTerms terms = LockTerms.of(REQUEST, fixture.engine.context().settings());
			HeldGrant heldGrant = new HeldGrant(
					new LockGrant(KEY, new OwnerId("0".repeat(32)), 1, Duration.ofSeconds(30)), terms, 0, 0);
			AtomicInteger ends = new AtomicInteger();
			together(() -> {
				if (heldGrant.release(0)) {
					ends.incrementAndGet();
					check(!heldGrant.beginRenewal(), "a renewal began after its release");
				}
			}, () -> {
				if (heldGrant.beginRenewal()) {
					heldGrant.endRenewal();
				}
				if (heldGrant.lose(LossReason.EXPIRED)) {
					ends.incrementAndGet();
				}
			});
			check(ends.get() == 1, "ended " + ends.get() + " times");
			check(!heldGrant.isCurrent() && !heldGrant.isRenewing(), "still current");
		});
	}

	private static void together(Runnable one, Runnable other) {
		Thread first = new Thread(one);
		Thread second = new Thread(other);
		first.start();
		second.start();
		try {
			first.join();
			second.join();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void check(boolean condition, String violation) {
		if (!condition) {
			throw new IllegalStateException(violation);
		}
	}

	/** An engine over a store that a test answers for. */
	private static final class Fixture {

		private final ManualEnvironment environment = new ManualEnvironment();

		private final ManualProvider provider;

		private final LockEngine engine;

		Fixture(boolean answersAtOnce) {
			this.provider = new ManualProvider(answersAtOnce);
			this.engine = new LockEngine(this.provider, LockSettings.defaults(), this.environment,
					new LockEventPublisher(this.environment, List.of(), List.of()), () -> {
					});
		}

		Requester requester() {
			return new Requester(this.engine);
		}

		void checkNothingRemains() {
			this.environment.runTasks();
			check(this.engine.queueCount() == 0, "a queue remains");
			check(this.engine.context().heldGrants().isEmpty(), "a hold remains");
			check(this.provider.openContenders() == 0, "a contender remains");
			check(!this.provider.isHeld(), "the store still keeps a grant");
		}

	}

	/** A requester that takes a step when the test says so. */
	private static final class Requester implements RequestDriver {

		private final KeyRequest request;

		private volatile boolean signalled;

		private boolean failed;

		Requester(LockEngine engine) {
			this.request = (KeyRequest) engine.request(List.of(KEY), REQUEST, this);
		}

		@Override
		public void signal() {
			this.signalled = true;
		}

		boolean isSignalled() {
			return this.signalled;
		}

		boolean hasFailed() {
			return this.failed || !stepOrFail() && this.failed;
		}

		@Override
		public String requester() {
			return "test";
		}

		@Override
		public boolean mayBlock() {
			return true;
		}

		boolean step() {
			return this.request.step() == Acquisition.Progress.ACQUIRED;
		}

		boolean stepOrFail() {
			try {
				return step();
			}
			catch (LockException ex) {
				this.failed = true;
				return false;
			}
		}

	}

}
