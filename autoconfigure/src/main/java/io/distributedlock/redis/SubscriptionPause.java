package io.distributedlock.redis;

import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.RedisErrors;

/**
 * The pause after a subscription that has failed or ended, before the next one begins. A
 * denied right is warned of once. Guarded by the lock of the subscription.
 */
final class SubscriptionPause {

	private static final Log logger = LogFactory.getLog(SubscriptionPause.class);

	private static final long FAILURE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

	/** How many failures in a row are worth a warning. */
	private static final int FAILURES = 3;

	private static final long LOSS_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final long DENIAL_NANOS = TimeUnit.MINUTES.toNanos(1);

	private final String channel;

	private volatile Deadline end = Deadline.now();

	private long lossNanos = LOSS_NANOS / 2;

	private volatile boolean received;

	private boolean warned;

	private int failures;

	/** Creates a pause that is over. */
	SubscriptionPause(String channel) {
		this.channel = channel;
	}

	/** Whether it has ended; also without the lock. */
	boolean isOver() {
		return this.end.isPast();
	}

	/**
	 * Begins a pause.
	 * @param ex the reason, or {@code null} if the subscription ended
	 * @return logs the reason, to be run without the lock
	 */
	Runnable begin(@Nullable Throwable ex) {
		boolean denied = ex != null && RedisErrors.isDenied(ex);
		boolean lasting = denied || ex instanceof UnsupportedOperationException;
		this.failures += (ex != null) ? 1 : 0;
		boolean warn = !this.warned && (lasting || this.failures == FAILURES);
		this.end = Deadline.afterNanos(lasting ? DENIAL_NANOS : FAILURE_NANOS);
		this.warned |= warn;
		return () -> log(warn, denied, ex);
	}

	/** Records a message, without the lock. */
	void recordMessage(byte[] channel, byte[] message) {
		this.received = true;
	}

	/**
	 * Begins a pause after a subscription on which a notification did not arrive: twice
	 * as long as the one before if nothing else arrived since.
	 */
	void beginAfterLoss() {
		this.lossNanos = this.received ? LOSS_NANOS : Math.min(2 * this.lossNanos, DENIAL_NANOS);
		this.received = false;
		this.end = Deadline.afterNanos(this.lossNanos);
	}

	/** Forgets earlier failures, after a subscription has begun. */
	void reset() {
		this.failures = 0;
		this.warned = false;
	}

	private void log(boolean warn, boolean denied, @Nullable Throwable ex) {
		if (warn && ex instanceof UnsupportedOperationException) {
			logger.warn("The subscription to '" + this.channel
					+ "' is not possible: waiting processes poll instead and acquire released locks later. "
					+ ex.getMessage());
		}
		else if (warn && !denied) {
			logger.warn("The subscription to '" + this.channel + "' has failed " + FAILURES
					+ " times and is tried again: waiting processes poll meanwhile and acquire released locks later",
					ex);
		}
		else if (warn) {
			logger.warn("Redis does not permit this application to subscribe to '" + this.channel
					+ "': waiting processes poll instead and acquire released locks later. "
					+ "Permit SUBSCRIBE and the channel", ex);
		}
		else if (ex instanceof Error) {
			logger.error("The subscription to '" + this.channel + "' ended", ex);
		}
		else {
			logger.debug("The subscription to '" + this.channel + "' ended", ex);
		}
	}

}
