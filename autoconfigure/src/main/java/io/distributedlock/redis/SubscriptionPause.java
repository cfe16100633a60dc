package io.distributedlock.redis;

import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.Deadline;

/**
 * The pause after a subscription that has failed or ended, before the next one begins. A
 * denied right is warned of once. Guarded by the lock of the subscription.
 */
final class SubscriptionPause {

	private static final Log logger = LogFactory.getLog(SubscriptionPause.class);

	private static final long FAILURE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

	private static final long DENIAL_NANOS = TimeUnit.MINUTES.toNanos(1);

	private final String channel;

	private Deadline end = Deadline.now();

	private boolean warned;

	/** Creates a pause that is over. */
	SubscriptionPause(String channel) {
		this.channel = channel;
	}

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
		boolean warn = denied && !this.warned;
		this.end = Deadline.afterNanos(denied ? DENIAL_NANOS : FAILURE_NANOS);
		this.warned |= denied;
		return () -> log(warn, ex);
	}

	private void log(boolean warn, @Nullable Throwable ex) {
		if (warn) {
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
