package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * The outcome of a release for which the calling thread waits.
 */
public final class ReleaseResult {

	private ReleaseResult() {
	}

	/**
	 * Waits for a release, and gives it up at the end of the time-out or at an interrupt,
	 * which sets the flag of the thread again.
	 * @return the outcome; {@link ReleaseOutcome#UNKNOWN} of a release that was given up
	 */
	public static ReleaseOutcome await(StoreCall<ReleaseOutcome> release, Duration timeout) {
		CountDownLatch done = new CountDownLatch(1);
		release.onDone(done::countDown);
		try {
			Deadline.after(timeout).await(CallKind.RELEASE, (nanos) -> done.await(nanos, TimeUnit.NANOSECONDS));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (!release.isDone()) {
			release.abandon();
			return ReleaseOutcome.UNKNOWN;
		}
		return release.result();
	}

}
