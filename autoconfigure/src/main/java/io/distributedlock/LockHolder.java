package io.distributedlock;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The holder of a busy lock, as far as the store knows it.
 *
 * @param label the name of the holding process, for people to read
 * @param heldFor how long it has held the lock, or {@code null} if not known
 * @param remaining how long its lease lasts unless renewed, or {@code null} if not known
 * @since 0.1.0
 */
public record LockHolder(String label, @Nullable Duration heldFor, @Nullable Duration remaining) {

	String describe() {
		return "'" + this.label + "'" + ((this.heldFor != null) ? " for " + this.heldFor.toMillis() + " ms" : "");
	}

}
