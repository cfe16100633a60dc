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
import io.distributedlock.engine.grant.GrantState;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.LockTerms;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;

import static io.distributedlock.engine.ManualEngine.check;
import static io.distributedlock.engine.ManualEngine.together;

/**
 * Explores the interleavings of the engine around the queue of one key: arrivals,
 * answers, releases, losses, interrupts and the stop.
 */
@ExtendWith(SilentLogger.class)
class KeyQueueModelCheckingTests {

	private static final LockKey KEY = ManualEngine.KEY;

	int invocations() {
		return 10;
	}

	@Test
	void oneHolderAtATimeAndNothingRemains() {
		Exploration.run(invocations(), () -> {
			ManualEngine fixture = new ManualEngine(true);
			AtomicInteger holders = new AtomicInteger();
			Runnable user = () -> {
				ManualRequester requester = fixture.requester();
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
	@Tag("full")
	void nextWaiterIsSignalledWhenTheGrantEndsAndTheHeadLeaves() {
		Exploration.run(invocations(), () -> {
			ManualEngine fixture = new ManualEngine(true);
			ManualRequester holder = fixture.requester();
			check(holder.step(), "the first request is not served");
			ManualRequester head = fixture.requester();
			ManualRequester next = fixture.requester();
			check(!head.step() && !next.step(), "two holders");
			together(() -> holder.request.lease().close(), head.request::abandon);
			check(next.isSignalled() && next.step(), "the next waiter is not served");
			next.request.lease().close();
			fixture.checkNothingRemains();
		});
	}

	@Test
	@Tag("full")
	void grantThatMeetsAnInterruptIsPassedOnOrReleased() {
		Exploration.run(invocations(), () -> {
			ManualEngine fixture = new ManualEngine(false);
			ManualRequester head = fixture.requester();
			ManualRequester next = fixture.requester();
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
	@Tag("full")
	void grantOfAFirstAttemptIsHandledByItsRequesterOrByAnother() {
		Exploration.run(invocations(), () -> {
			ManualEngine fixture = new ManualEngine(false);
			ManualRequester first = fixture.requester();
			ManualRequester next = fixture.requester();
			check(!first.step() && !next.step(), "served without an answer");
			fixture.provider.answer(KEY);
			together(first::step, next::step);
			check(first.step() && first.isHeld() && !next.isHeld(), "the first request is not served");
			first.release();
			fixture.environment.runTasks();
			while (!next.step()) {
				check(fixture.provider.hasAttempt(), "the next waiter neither attempts nor has the lock");
				fixture.provider.answer(KEY);
			}
			next.release();
			fixture.checkNothingRemains();
		});
	}

	@Test
	@Tag("full")
	void attemptThatFailsMeetsAnArrival() {
		Exploration.run(invocations(), () -> {
			ManualEngine fixture = new ManualEngine(false);
			ManualRequester head = fixture.requester();
			check(!head.step(), "served without an answer");
			ManualRequester next = fixture.requester();
			together(fixture.provider::fail, next::step);
			// The pause after a failure, and less than a call may take.
			fixture.environment.advance(Duration.ofMillis(100).toNanos());
			check(!next.step(), "served without an answer");
			// The first request has not seen its failure yet: the pause begins only now.
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
	@Tag("full")
	void grantThatMeetsTheStopIsGivenOrReleased() {
		Exploration.run(invocations(), () -> {
			ManualEngine fixture = new ManualEngine(false);
			ManualRequester head = fixture.requester();
			check(!head.step(), "served without an answer");
			AtomicBoolean stopped = new AtomicBoolean();
			together(() -> {
				boolean late = stopped.get();
				fixture.provider.answer(KEY);
				check(!late || !head.isHeld(), "a hold began although the engine stops");
			}, () -> {
				fixture.engine.beginStop();
				stopped.set(true);
			});
			if (head.stepOrFail()) {
				head.request.lease().close();
			}
			check(fixture.engine.isQuiet() || fixture.provider.hasAttempt(), "a request remains");
			fixture.provider.answer(KEY);
			fixture.checkNothingRemains();
		});
	}

	@Test
	@Tag("full")
	void lossMeetsTheRelease() {
		Exploration.run(invocations(), () -> {
			ManualEngine fixture = new ManualEngine(true);
			ManualRequester holder = fixture.requester();
			check(holder.step(), "the first request is not served");
			EngineLease lease = holder.request.lease();
			ManualRequester next = fixture.requester();
			check(!next.step(), "two holders");
			together(() -> fixture.engine.context().heldGrants().lose(lease.grants().get(0), LossReason.EXPIRED),
					lease::close);
			lease.close();
			fixture.environment.runTasks();
			check(next.isSignalled() && next.step(), "the next waiter is not served");
			next.request.lease().close();
			fixture.checkNothingRemains();
		});
	}

	@Test
	@Tag("full")
	void holdEndsOnceAndIsNotRenewedAfterwards() {
		Exploration.run(invocations(), () -> {
			ManualEngine fixture = new ManualEngine(true);
			LockTerms terms = LockTerms.of(ManualEngine.REQUEST, fixture.engine.context().settings());
			HeldGrant heldGrant = new HeldGrant(new LockGrant(KEY, new OwnerId(0, 0), 1, Duration.ofSeconds(30)), terms,
					Duration.ofSeconds(30), 0, 0, new NoQueue());
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
				if (heldGrant.lose(LossReason.EXPIRED) != GrantState.LossEffect.ALREADY_ENDED) {
					ends.incrementAndGet();
				}
			});
			check(ends.get() == 1, "ended " + ends.get() + " times");
			check(!heldGrant.isCurrent() && !heldGrant.isRenewing(), "still current");
		});
	}

}
