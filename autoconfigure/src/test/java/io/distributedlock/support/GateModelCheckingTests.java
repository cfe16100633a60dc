package io.distributedlock.support;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.jetbrains.lincheck.Lincheck;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LockProvider.Grant;
import io.distributedlock.LossReason;
import io.distributedlock.OwnerId;

/**
 * Explores the interleavings of the local core: who holds, who is next, who is woken.
 */
class GateModelCheckingTests {

	private static final LockKey KEY = LockKey.of("seats", "13A");

	private static final Grant GRANT = new Grant(KEY, new OwnerId("0".repeat(32)), 1, Duration.ofSeconds(30));

	int invocations() {
		return 500;
	}

	@Test
	void theNextInLineIsSignalledHoweverTheTenureEndsAndTheFormerHeadLeaves() {
		Lincheck.runConcurrentTest(invocations(), () -> {
			Gates gates = new Gates(null);
			Gate gate = gates.gate(KEY);
			Tenure tenure = tenure(gate);
			Waiter holder = new SilentWaiter();
			Waiter head = new SilentWaiter();
			Waiter next = new SilentWaiter();
			gate.join(holder);
			gate.granted(holder, tenure);
			gate.join(head);
			gate.join(next);
			together(() -> gate.ended(tenure), () -> gate.leave(head));
			check(next.isSignalled(), "nobody looks any more");
			check(gate.takeTurn(next), "the next in line may not ask");
		});
	}

	@Test
	void aTenureIsLeftOnceAndNoRenewalIsClaimedAfterwards() {
		Lincheck.runConcurrentTest(invocations(), () -> {
			Tenure tenure = tenure(new Gates(null).gate(KEY));
			AtomicInteger left = new AtomicInteger();
			together(() -> {
				if (tenure.release(0)) {
					left.incrementAndGet();
					check(!tenure.beginRenewal(), "a renewal began after its release");
				}
			}, () -> {
				if (tenure.beginRenewal()) {
					tenure.endRenewal();
				}
				if (tenure.lose(LossReason.EXPIRED)) {
					left.incrementAndGet();
				}
			});
			check(left.get() == 1, "left " + left + " times");
			check(!tenure.isCurrent() && !tenure.isRenewing(), "still current");
		});
	}

	@Test
	void whoComesWhileTheLastLeavesFindsAGateThatIsOpen() {
		Lincheck.runConcurrentTest(invocations(), () -> {
			Gates gates = new Gates(null);
			Gate first = gates.gate(KEY);
			Waiter last = new SilentWaiter();
			first.join(last);
			AtomicInteger open = new AtomicInteger();
			together(() -> first.leave(last), () -> {
				Waiter newcomer = new SilentWaiter();
				Gate gate = join(gates, newcomer);
				if (gate.takeTurn(newcomer) || newcomer.isSignalled() || gate == first) {
					open.incrementAndGet();
				}
			});
			check(open.get() == 1 && gates.size() == 1, "the newcomer waits at a closed gate");
		});
	}

	@Test
	void twoNeverHoldAtOnceAndNothingIsLeftOfTheGate() {
		Lincheck.runConcurrentTest(invocations(), () -> {
			Gates gates = new Gates(null);
			AtomicInteger holders = new AtomicInteger();
			Runnable contender = () -> {
				Waiter waiter = new SilentWaiter();
				Gate gate = join(gates, waiter);
				if (gate.takeTurn(waiter)) {
					Tenure tenure = tenure(gate);
					gate.granted(waiter, tenure);
					check(holders.incrementAndGet() == 1, "two holders");
					holders.decrementAndGet();
					if (tenure.release(0)) {
						gate.ended(tenure);
					}
				}
				else {
					gate.leave(waiter);
				}
			};
			together(contender, contender);
			check(gates.size() == 0, "a gate is left");
		});
	}

	private static Gate join(Gates gates, Waiter waiter) {
		Gate gate = gates.gate(KEY);
		while (gate.join(waiter) < 0) {
			gate = gates.gate(KEY);
		}
		return gate;
	}

	private static Tenure tenure(Gate gate) {
		return new Tenure(gate, GRANT, Duration.ofSeconds(30), true, 0, 0);
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

	private static final class SilentWaiter extends Waiter {

		@Override
		void wake() {
		}

	}

}
