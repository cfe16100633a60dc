package io.distributedlock.support;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.jetbrains.lincheck.Lincheck;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LossReason;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;

/**
 * Explores the interleavings of the process-local queue: holders, waiters and signals.
 */
class KeyQueueModelCheckingTests {

	private static final LockKey KEY = LockKey.of("seats", "13A");

	private static final LockGrant GRANT = new LockGrant(KEY, new OwnerId("0".repeat(32)), 1, Duration.ofSeconds(30));

	int invocations() {
		return 500;
	}

	@Test
	void nextWaiterIsSignalledWhenGrantEndsAndHeadLeaves() {
		Lincheck.runConcurrentTest(invocations(), () -> {
			KeyQueueRegistry queues = new KeyQueueRegistry(null);
			KeyQueue queue = queues.queue(KEY);
			HeldGrant heldGrant = heldGrant(queue);
			Waiter holder = new SilentWaiter();
			Waiter head = new SilentWaiter();
			Waiter next = new SilentWaiter();
			queue.join(holder);
			queue.recordGrant(holder, heldGrant);
			queue.join(head);
			queue.join(next);
			together(() -> queue.recordEnd(heldGrant), () -> queue.leave(head));
			check(next.isSignalled(), "the next waiter is not signalled");
			check(queue.beginAttempt(next), "the next waiter may not attempt");
		});
	}

	@Test
	void holdEndsOnceAndIsNotRenewedAfterwards() {
		Lincheck.runConcurrentTest(invocations(), () -> {
			HeldGrant heldGrant = heldGrant(new KeyQueueRegistry(null).queue(KEY));
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
			check(ends.get() == 1, "ended " + ends + " times");
			check(!heldGrant.isCurrent() && !heldGrant.isRenewing(), "still current");
		});
	}

	@Test
	void waiterNeverJoinsAClosedQueue() {
		Lincheck.runConcurrentTest(invocations(), () -> {
			KeyQueueRegistry queues = new KeyQueueRegistry(null);
			KeyQueue first = queues.queue(KEY);
			Waiter last = new SilentWaiter();
			first.join(last);
			AtomicInteger open = new AtomicInteger();
			together(() -> first.leave(last), () -> {
				Waiter newcomer = new SilentWaiter();
				KeyQueue queue = join(queues, newcomer);
				if (queue.beginAttempt(newcomer) || newcomer.isSignalled() || queue == first) {
					open.incrementAndGet();
				}
			});
			check(open.get() == 1 && queues.size() == 1, "the newcomer waits at a closed queue");
		});
	}

	@Test
	void oneHolderAtATimeAndNoQueueRemains() {
		Lincheck.runConcurrentTest(invocations(), () -> {
			KeyQueueRegistry queues = new KeyQueueRegistry(null);
			AtomicInteger holders = new AtomicInteger();
			Runnable contender = () -> {
				Waiter waiter = new SilentWaiter();
				KeyQueue queue = join(queues, waiter);
				if (queue.beginAttempt(waiter)) {
					HeldGrant heldGrant = heldGrant(queue);
					queue.recordGrant(waiter, heldGrant);
					check(holders.incrementAndGet() == 1, "two holders");
					holders.decrementAndGet();
					if (heldGrant.release(0)) {
						queue.recordEnd(heldGrant);
					}
				}
				else {
					queue.leave(waiter);
				}
			};
			together(contender, contender);
			check(queues.size() == 0, "a queue remains");
		});
	}

	private static KeyQueue join(KeyQueueRegistry queues, Waiter waiter) {
		KeyQueue queue = queues.queue(KEY);
		while (queue.join(waiter) < 0) {
			queue = queues.queue(KEY);
		}
		return queue;
	}

	private static HeldGrant heldGrant(KeyQueue queue) {
		return new HeldGrant(queue, GRANT, Duration.ofSeconds(30), true, 0, 0);
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
