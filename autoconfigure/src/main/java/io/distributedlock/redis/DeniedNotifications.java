package io.distributedlock.redis;

import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The notifications that the server denies inside a script. Locks exclude without them,
 * but are handed over slowly, so one WARN tells it.
 */
final class DeniedNotifications {

	private static final Log logger = LogFactory.getLog(DeniedNotifications.class);

	private final AtomicBoolean reported = new AtomicBoolean();

	/**
	 * Warns of a notification that was not sent, unless that was done.
	 * @param error the server's error, or an empty text
	 */
	void report(String error) {
		if (!error.isEmpty() && this.reported.compareAndSet(false, true)) {
			logger.warn("Redis does not run PUBLISH for this application, so that waiting processes poll and acquire "
					+ "released locks later. If its user lacks a right, permit PUBLISH on the channels of locks. "
					+ "The server replied: " + error);
		}
	}

}
