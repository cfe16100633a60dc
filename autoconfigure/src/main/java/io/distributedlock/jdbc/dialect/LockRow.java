package io.distributedlock.jdbc.dialect;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.provider.OwnerId;

/**
 * Row of the lock table as one statement saw it. Times are in microseconds by the
 * database's clock and relative to the moment of the statement, unless they count from
 * 1970.
 *
 * @param owner the state and the id of its owner: {@link #HELD}, {@link #ROW_LOCK},
 * {@link #SHARED} or {@link #RESERVED}; {@link #FREE}, or {@link #KEPT}
 * @param order the order of the last grant
 * @param holder the label of the last holder
 * @param heldMicros the time since the last grant
 * @param remainingMicros the time until the lease or the reservation expires, not
 * positive once it has
 * @param nowMicros the moment of the statement since 1970
 * @param first the first entry of the wait queue, {@code null} if none is valid
 * @param second the second entry of the wait queue, {@code null} if none is valid
 */
public record LockRow(String owner, long order, @Nullable String holder, long heldMicros, long remainingMicros,
		long nowMicros, @Nullable QueueEntry first, @Nullable QueueEntry second) {

	/** In place of a process id in an entry of the wait queue that is empty. */
	static final String NONE = ".".repeat(32);

	/** Precedes the owner id of a grant that lasts as long as its lease. */
	private static final String HELD = "held....:";

	/** Precedes the owner id of a grant that lasts as long as a row is locked. */
	private static final String ROW_LOCK = "row-lock:";

	/** Precedes the owner id of the last share that was granted. */
	static final String SHARED = "shared..:";

	/** Precedes the process id in the owner column of a reserved lock. */
	public static final String RESERVED = "reserved:";

	/** The owner of a row that any process may acquire. */
	public static final String FREE = "free....:" + NONE;

	/** The owner of a row that is kept after its release. */
	static final String KEPT = "kept....:" + NONE;

	/** Reads the clock and the columns that every dialect selects in this order. */
	static LockRow read(ResultSet result) throws SQLException {
		long now = result.getLong(1);
		return new LockRow(result.getString(2), result.getLong(3), result.getString(4), now - result.getLong(5),
				result.getLong(6) - now, now, QueueEntry.read(result, 7, now), QueueEntry.read(result, 10, now));
	}

	/** Returns the owner column of a lease, exclusive or shared as the id says. */
	public static String heldBy(OwnerId owner) {
		return (owner.isShare() ? SHARED : HELD) + owner.text();
	}

	/** Returns the owner column of a row lock. */
	public static String lockedBy(OwnerId owner) {
		return ROW_LOCK + owner.text();
	}

	/** Returns what matters of the row that an attempt has acquired just now. */
	static LockRow granted(RowAttempt attempt, long order) {
		return new LockRow(attempt.owner(), order, attempt.holder(), 0, attempt.leaseMicros(), order, null, null);
	}

	public boolean isHeldBy(String owner) {
		return owner.equals(this.owner);
	}

	/**
	 * Whether the owner is one of a row lock, which has ended when its row can be locked.
	 */
	public boolean isOfRowLock() {
		return this.owner.startsWith(ROW_LOCK);
	}

	/** Whether shares hold the lock, or have held it last if it has expired. */
	public boolean isShared() {
		return isShare(this.owner);
	}

	/** Whether an owner column is that of a share. */
	public static boolean isShare(String owner) {
		return owner.startsWith(SHARED);
	}

	/**
	 * Returns the owner id of a lease or a row lock, {@code null} if the row has none.
	 */
	public @Nullable OwnerId ownerId() {
		return (isOfRowLock() || isShared() || this.owner.startsWith(HELD))
				? new OwnerId(this.owner.substring(HELD.length())) : null;
	}

	public boolean isReserved() {
		return this.owner.startsWith(RESERVED);
	}

	/** Whether an attempt of the process would be granted. */
	public boolean isAcquirableBy(String process) {
		return this.owner.equals(FREE) || this.remainingMicros <= 0 || this.owner.equals(RESERVED + process);
	}

	/** Whether no other contender stands before that of an attempt in the wait queue. */
	boolean isNext(RowAttempt attempt) {
		Long since = attempt.sinceMicros();
		long sinceMicros = (since != null) ? since : sinceMicros(attempt.process());
		boolean afterFirst = this.first != null && !isFirst(attempt.process())
				&& this.first.sinceMicros() <= sinceMicros;
		boolean afterSecond = this.second != null && !isEntryOf(attempt.process(), this.second)
				&& this.second.sinceMicros() < sinceMicros;
		return !afterFirst && !afterSecond;
	}

	/** Whether a release reserves the lock for the process. */
	public boolean isFirst(String process) {
		return isEntryOf(process, this.first);
	}

	/** Whether the wait queue has an entry of the process. */
	public boolean isQueued(String process) {
		return isEntryOf(process, this.first) || isEntryOf(process, this.second);
	}

	/**
	 * Returns when the process was first refused, in microseconds since 1970: now if the
	 * wait queue has no entry of it.
	 */
	public long sinceMicros(String process) {
		if (this.first != null && isEntryOf(process, this.first)) {
			return this.first.sinceMicros();
		}
		return (this.second != null && isEntryOf(process, this.second)) ? this.second.sinceMicros() : this.nowMicros;
	}

	/**
	 * Returns by how much a contender was refused later than the last one in the wait
	 * queue that was refused before it, zero if there is none.
	 * @param sinceMicros when the contender was first refused, since 1970
	 */
	public long behindMicros(long sinceMicros) {
		long aheadMicros = sinceMicros;
		if (this.first != null && this.first.sinceMicros() < sinceMicros) {
			aheadMicros = this.first.sinceMicros();
			if (this.second != null && this.second.sinceMicros() < sinceMicros) {
				aheadMicros = Math.max(aheadMicros, this.second.sinceMicros());
			}
		}
		return sinceMicros - aheadMicros;
	}

	/**
	 * Whether the wait queue has an entry of the process, or one that is open to it now.
	 */
	boolean hasOpenEntryFor(String process) {
		return this.first == null || this.second == null || isQueued(process)
				|| this.first.sinceMicros() > this.nowMicros || this.second.sinceMicros() >= this.nowMicros;
	}

	/** Whether an attempt that begins now might change the row. */
	boolean mayBeChangedBy(RowAttempt attempt) {
		return isAcquirableBy(attempt.process()) || isHeldBy(attempt.owner())
				|| (attempt.willWait() && hasOpenEntryFor(attempt.process()));
	}

	/**
	 * Whether an attempt would change the row: acquire the lock, enter the wait queue, or
	 * refresh an entry whose time is half over.
	 * @param entryMicros how long an entry is valid without being refreshed
	 */
	public boolean isChangedBy(RowAttempt attempt, long entryMicros) {
		if (isAcquirableBy(attempt.process()) || isHeldBy(attempt.owner())) {
			return true;
		}
		Long since = attempt.sinceMicros();
		if (!attempt.willWait() || since == null) {
			return false;
		}
		if (this.first == null) {
			return true;
		}
		if (isEntryOf(attempt.process(), this.first)) {
			return this.first.leftMicros() < entryMicros / 2;
		}
		if (this.first.sinceMicros() > since || this.second == null) {
			return true;
		}
		// To displace a contender that was refused only a little later is not worth a
		// write.
		return isEntryOf(attempt.process(), this.second) ? this.second.leftMicros() < entryMicros / 2
				: this.second.sinceMicros() - since > since - this.first.sinceMicros();
	}

	private static boolean isEntryOf(String process, @Nullable QueueEntry entry) {
		return entry != null && process.equals(entry.process());
	}

	/**
	 * Describes the holder, or the last one of a lock that is kept; {@code null} while
	 * the lock is free or reserved.
	 */
	public @Nullable LockHolder describeHolder() {
		if (this.owner.equals(FREE) || isReserved() || this.holder == null) {
			return null;
		}
		return LockHolder.of(this.holder)
			.withHeldFor(Duration.ofNanos(Math.max(this.heldMicros, 0) * 1000))
			.withRemaining(Duration.ofNanos(Math.max(this.remainingMicros, 0) * 1000))
			.withReleased(KEPT.equals(this.owner));
	}

	/**
	 * Valid entry of the wait queue.
	 *
	 * @param process the id of the process that waits
	 * @param sinceMicros when that process was first refused, since 1970
	 * @param leftMicros how much longer the entry is valid without being refreshed
	 */
	public record QueueEntry(String process, long sinceMicros, long leftMicros) {

		/** Whether the contender wants a share. */
		boolean isOfShare() {
			return this.process.startsWith(RowAttempt.SHARE);
		}

		/** Reads the three columns of an entry from the first of them on. */
		private static @Nullable QueueEntry read(ResultSet result, int column, long now) throws SQLException {
			String waiter = result.getString(column);
			long leftMicros = result.getLong(column + 2) - now;
			return (leftMicros > 0 && !waiter.equals(NONE))
					? new QueueEntry(waiter, result.getLong(column + 1), leftMicros) : null;
		}

	}

}
