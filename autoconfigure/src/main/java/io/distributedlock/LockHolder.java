package io.distributedlock;

import java.time.Duration;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * The holder of a busy lock, or the last one of a lock that the store keeps after its
 * release, as far as the store knows it. Immutable; each {@code with…} method returns a
 * changed copy.
 *
 * @since 0.1.0
 */
public final class LockHolder {

	private final String label;

	private final @Nullable Duration heldFor;

	private final @Nullable Duration remaining;

	private final boolean released;

	private LockHolder(String label, @Nullable Duration heldFor, @Nullable Duration remaining, boolean released) {
		this.label = label;
		this.heldFor = heldFor;
		this.remaining = remaining;
		this.released = released;
	}

	/**
	 * Creates the description of a holder that has not released the lock, and of whose
	 * times nothing is known.
	 * @param label the name of the holding process, for people to read
	 * @return the holder
	 */
	public static LockHolder of(String label) {
		return new LockHolder(label, null, null, false);
	}

	/**
	 * Returns a copy with the time since the grant.
	 * @param heldFor how long ago it was granted the lock, or {@code null} if not known
	 * @return the copy
	 */
	public LockHolder withHeldFor(@Nullable Duration heldFor) {
		return new LockHolder(this.label, heldFor, this.remaining, this.released);
	}

	/**
	 * Returns a copy with the rest of its time.
	 * @param remaining how long its lease lasts unless renewed, or the store keeps the
	 * lock, or {@code null} if not known
	 * @return the copy
	 */
	public LockHolder withRemaining(@Nullable Duration remaining) {
		return new LockHolder(this.label, this.heldFor, remaining, this.released);
	}

	/**
	 * Returns a copy that has released the lock, or not.
	 * @param released whether it has released the lock, which the store keeps for the
	 * rest of its shortest hold ({@code minHold})
	 * @return the copy
	 */
	public LockHolder withReleased(boolean released) {
		return new LockHolder(this.label, this.heldFor, this.remaining, released);
	}

	/** Returns the name of the holding process, for people to read. */
	public String label() {
		return this.label;
	}

	/**
	 * Returns how long ago it was granted the lock.
	 * @return the time, or {@code null} if not known
	 */
	public @Nullable Duration heldFor() {
		return this.heldFor;
	}

	/**
	 * Returns how long its lease lasts unless renewed, or the store keeps the lock.
	 * @return the time, or {@code null} if not known
	 */
	public @Nullable Duration remaining() {
		return this.remaining;
	}

	/**
	 * Returns whether it has released the lock, which the store keeps for the rest of its
	 * shortest hold ({@code minHold}).
	 */
	public boolean released() {
		return this.released;
	}

	String describe() {
		if (this.released) {
			return "kept " + ((this.remaining != null) ? "for another " + this.remaining.toMillis() + " ms " : "")
					+ "(minHold) after '" + this.label + "' has released it,";
		}
		return "held by '" + this.label + "'"
				+ ((this.heldFor != null) ? " for " + this.heldFor.toMillis() + " ms" : "");
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return this == other || (other instanceof LockHolder that && this.label.equals(that.label)
				&& Objects.equals(this.heldFor, that.heldFor) && Objects.equals(this.remaining, that.remaining)
				&& this.released == that.released);
	}

	@Override
	public int hashCode() {
		return Objects.hash(this.label, this.heldFor, this.remaining, this.released);
	}

	@Override
	public String toString() {
		return "LockHolder[label=" + this.label + ", heldFor=" + this.heldFor + ", remaining=" + this.remaining
				+ ", released=" + this.released + "]";
	}

}
