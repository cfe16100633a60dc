package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.LockError;
import io.distributedlock.engine.grant.LockSettings;

/**
 * Warnings of settings that are valid each, but together leave renewals too little time,
 * or are without effect.
 */
final class SettingsWarnings {

	private static final Log logger = LogFactory.getLog(SettingsWarnings.class);

	/** How many times as long as the time of hand-offs a lease has to be. */
	private static final int HAND_OFF_FACTOR = 20;

	private SettingsWarnings() {
	}

	/** Logs the warnings, by a logger that has nothing else. */
	static void log(LockSettings settings) {
		of(settings).forEach(logger::warn);
	}

	/**
	 * Returns the warnings, each of which names the properties.
	 * @param settings the settings
	 * @return the messages, empty if there is nothing to warn of
	 */
	static List<String> of(LockSettings settings) {
		List<String> warnings = new ArrayList<>();
		addRenewal(settings, warnings);
		addHandOff(settings, warnings);
		return warnings;
	}

	private static void addRenewal(LockSettings settings, List<String> warnings) {
		Duration lease = settings.lease();
		Duration longest = settings.longestRenewal(lease);
		if (longest.compareTo(settings.callTimeout()) < 0) {
			warnings.add(LockError.CONFLICTING_SETTINGS
				.describe("The property distributed-lock.call-timeout is " + text(settings.callTimeout())
						+ ", but a renewal of a lease of " + text(lease) + " (distributed-lock.lease) may take "
						+ text(longest) + " at most: a store that is slower than that grants locks, but renews none",
						"Use a call-timeout of at most " + text(longest) + ", or a lease of at least "
								+ text(settings.shortestSafeLease())));
		}
	}

	private static void addHandOff(LockSettings settings, List<String> warnings) {
		Duration handOff = settings.maxHandOffTime();
		if (handOff != null && settings.lease().compareTo(handOff.multipliedBy(HAND_OFF_FACTOR)) < 0) {
			warnings.add(LockError.CONFLICTING_SETTINGS.describe(
					"The property distributed-lock.hand-off.max-time is " + text(handOff)
							+ ", but a lock with a lease of " + text(settings.lease())
							+ " (distributed-lock.lease) is handed off only if the lease is " + HAND_OFF_FACTOR
							+ " times as long, so that no lock is",
					"Use a max-time of at most " + text(settings.lease().dividedBy(HAND_OFF_FACTOR))
							+ ", or switch hand-offs off (distributed-lock.hand-off.max-time=0)"));
		}
	}

	private static String text(Duration duration) {
		return duration.toMillis() + "ms";
	}

}
