package io.distributedlock.provider;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * The version number of the layout in which a store keeps the locks. A process that does
 * not know the layout must not use it: processes with different layouts do not exclude
 * each other.
 *
 * @param number the newest number that this version of the library supports
 * @since 0.1.0
 */
public record LayoutFormat(long number) {

	/**
	 * Requires that this version supports the format of a store.
	 * @param place the place of the locks, such as {@code the table 'x'}, for the message
	 * @param found the number in the store
	 * @throws LockConfigurationException if the number is higher than that of this
	 * version, or no number at all
	 */
	public void requireSupported(String place, String found) {
		if (!isSupported(found)) {
			throw new LockConfigurationException(LockError.NEWER_FORMAT,
					"The locks in " + place + " have format '" + found + "', but this version supports formats up to "
							+ this.number,
					"Upgrade this application: versions with different formats do not exclude each other");
		}
	}

	private boolean isSupported(String found) {
		try {
			return Long.parseLong(found) <= this.number;
		}
		catch (NumberFormatException ex) {
			return false;
		}
	}

	/**
	 * Returns the text that a new layout stores.
	 * @return the number in decimal digits
	 */
	public String text() {
		return Long.toString(this.number);
	}

}
