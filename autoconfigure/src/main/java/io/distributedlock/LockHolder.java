package io.distributedlock;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The holder of a busy lock, or the last one of a lock that the store keeps after its
 * release, as far as the store knows it.
 *
 * @param label the name of the holding process, for people to read
 * @param heldFor how long ago it was granted the lock, or {@code null} if not known
 * @param remaining how long its lease lasts unless renewed, or the store keeps the lock,
 * or {@code null} if not known
 * @param released whether it has released the lock, which the store keeps for the rest of
 * its shortest hold ({@code minHold})
 * @since 0.1.0
 */
public record LockHolder(String label, @Nullable Duration heldFor, @Nullable Duration remaining, boolean released) {

	/**
	 * Creates the description of a holder that has not released the lock.
	 * @param label the name of the holding process, for people to read
	 * @param heldFor how long it has held the lock, or {@code null} if not known
	 * @param remaining how long its lease lasts unless renewed, or {@code null} if not
	 * known
	 */
	public LockHolder(String label, @Nullable Duration heldFor, @Nullable Duration remaining) {
		this(label, heldFor, remaining, false);
	}

	String describe() {
		if (this.released) {
			return "kept " + ((this.remaining != null) ? "for another " + this.remaining.toMillis() + " ms " : "")
					+ "(minHold) after '" + this.label + "' has released it,";
		}
		return "held by '" + this.label + "'"
				+ ((this.heldFor != null) ? " for " + this.heldFor.toMillis() + " ms" : "");
	}

}
