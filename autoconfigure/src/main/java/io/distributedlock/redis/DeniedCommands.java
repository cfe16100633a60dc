package io.distributedlock.redis;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The commands of waiting and waking up that the server denies inside a script. Locks
 * exclude without them, but are handed over slowly, so each is warned of once.
 */
final class DeniedCommands {

	private static final Log logger = LogFactory.getLog(DeniedCommands.class);

	private final Set<String> reported = ConcurrentHashMap.newKeySet();

	/**
	 * Warns of a command, unless that was done.
	 * @param error the name of the command, a space and the server's error; or empty
	 */
	void report(String error) {
		if (error.isEmpty()) {
			return;
		}
		String command = error.substring(0, Math.max(error.indexOf(' '), 0));
		if (this.reported.add(command)) {
			logger.warn("Redis does not run " + command + " for this application, so that waiting processes poll and "
					+ "acquire released locks later. If its user lacks a right, permit " + command
					+ " on the keys and the channels of locks. The server replied: "
					+ error.substring(command.length()).trim());
		}
	}

}
