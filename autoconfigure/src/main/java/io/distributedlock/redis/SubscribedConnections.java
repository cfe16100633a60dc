package io.distributedlock.redis;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.Subscription;

/**
 * Ends the connections of subscriptions. What fails is only logged.
 */
final class SubscribedConnections {

	private static final Log logger = LogFactory.getLog(SubscribedConnections.class);

	private SubscribedConnections() {
	}

	static void close(@Nullable RedisConnection open) {
		try {
			if (open != null) {
				open.close();
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The connection of the subscription could not be closed", ex);
		}
	}

	static void unsubscribe(@Nullable RedisConnection open) {
		try {
			Subscription subscription = (open != null) ? open.getSubscription() : null;
			if (subscription != null && subscription.isAlive()) {
				subscription.unsubscribe();
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The subscription could not be ended", ex);
		}
	}

}
