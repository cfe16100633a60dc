package io.distributedlock.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;

/**
 * A row of the lock table as one statement saw it. Times are in microseconds by the
 * database's clock, relative to the moment of the statement unless they say otherwise.
 *
 * @param owner the owner id, or a {@link #RESERVED reservation}, or {@code null}
 * @param order the order of the last grant
 * @param holder the label of the last holder
 * @param age the time since the grant
 * @param remaining the time until the lock or the reservation ends; negative when over
 * @param nextWaiter the process that has the place in line
 * @param nextSince when that process was first refused, since 1970
 * @param placeLeft the time for which the place counts without being refreshed, negative
 * when over, or {@code null} if nobody has it
 * @param now when the statement looked, since 1970
 * @param thenWaiter the process that has the place behind
 * @param thenSince when that process was first refused, since 1970
 * @param thenLeft the time for which that place counts, negative when over, or
 * {@code null} if nobody has it
 */
record LockRow(@Nullable String owner, long order, @Nullable String holder, long age, long remaining,
		@Nullable String nextWaiter, long nextSince, @Nullable Long placeLeft, long now, @Nullable String thenWaiter,
		long thenSince, @Nullable Long thenLeft) {

	/**
	 * Precedes the process id where the owner is the process that a lock is reserved for.
	 */
	static final String RESERVED = "reserved:";

	/** Reads the twelve columns that every dialect selects in this order. */
	static LockRow read(ResultSet result) throws SQLException {
		return new LockRow(result.getString(1), result.getLong(2), result.getString(3), result.getLong(4),
				result.getLong(5), result.getString(6), result.getLong(7), nullable(result, 8), result.getLong(9),
				result.getString(10), result.getLong(11), nullable(result, 12));
	}

	private static @Nullable Long nullable(ResultSet result, int column) throws SQLException {
		long value = result.getLong(column);
		return result.wasNull() ? null : value;
	}

	boolean heldBy(String owner) {
		return owner.equals(this.owner);
	}

	boolean takeableBy(String process) {
		return this.owner == null || this.remaining <= 0 || reservedFor(process);
	}

	boolean reservedFor(String process) {
		return this.owner != null && this.owner.equals(RESERVED + process);
	}

	boolean placeHeldBy(String process) {
		return placeTaken() && process.equals(this.nextWaiter);
	}

	/** Whether a process that was first refused at the given time may take the place. */
	boolean placeOpenTo(long since) {
		return !placeTaken() || this.nextSince > since;
	}

	boolean secondHeldBy(String process) {
		return secondTaken() && process.equals(this.thenWaiter);
	}

	/** Whether a process that was first refused at the given time may be the second. */
	boolean secondOpenTo(long since) {
		return !secondTaken() || this.thenSince > since;
	}

	/** When the process was first refused, now if it does not stand in line. */
	long sinceOf(String process) {
		return placeHeldBy(process) ? this.nextSince : secondHeldBy(process) ? this.thenSince : this.now;
	}

	/** Whether the process stands in line. */
	boolean inLine(String process) {
		return placeHeldBy(process) || secondHeldBy(process);
	}

	private boolean secondTaken() {
		return this.thenWaiter != null && this.thenLeft != null && this.thenLeft > 0;
	}

	private boolean placeTaken() {
		return this.nextWaiter != null && this.placeLeft != null && this.placeLeft > 0;
	}

	@Nullable LockHolder describeHolder() {
		if (this.owner == null || this.owner.startsWith(RESERVED) || this.holder == null) {
			return null;
		}
		return new LockHolder(this.holder, Duration.ofNanos(Math.max(this.age, 0) * 1000),
				Duration.ofNanos(Math.max(this.remaining, 0) * 1000));
	}

}
