package io.distributedlock.provider;

import java.time.Duration;

/**
 * The longest time for which a store keeps a key without a renewal.
 *
 * @param duration the time
 * @param setting the name of the property that sets it, for messages
 * @since 0.1.0
 */
public record LongestLease(Duration duration, String setting) {

	/**
	 * Returns whether a lease or a shortest hold is longer.
	 * @param other the time to compare
	 * @return {@code true} if the store cannot keep a key for so long
	 */
	public boolean isExceededBy(Duration other) {
		return other.compareTo(this.duration) > 0;
	}

	/**
	 * Returns the limit for a message.
	 * @return its time and the property
	 */
	@Override
	public String toString() {
		return this.duration + " (" + this.setting + ")";
	}

}
