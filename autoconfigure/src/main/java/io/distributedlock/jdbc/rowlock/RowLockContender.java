package io.distributedlock.jdbc.rowlock;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.LockTable;
import io.distributedlock.jdbc.TableCheck;
import io.distributedlock.jdbc.dialect.LockKeyEncoder;
import io.distributedlock.jdbc.dialect.LockRow;
import io.distributedlock.jdbc.dialect.RowAttempt;
import io.distributedlock.jdbc.dialect.RowLockStatements.RowWait;
import io.distributedlock.jdbc.dialect.SqlErrors;
import io.distributedlock.jdbc.rowlock.RowLockPool.Reservation;
import io.distributedlock.jdbc.rowlock.RowLocks.LockedRow;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * Contender of this process for one row lock. It has no entry in a wait queue of ours: an
 * attempt that waits on the thread of its request stands in the queue of the database
 * while it lasts. All others ask without a wait, and come again.
 * <p>
 * The order of a grant is written after the row is locked, and the session is asked after
 * that: if it lives, the row was locked all the time, so that no other grant of a row
 * lock can have had its order written in between.
 */
final class RowLockContender implements LockContender {

	private static final int SHORTEST_POLL_MILLIS = 20;

	private static final int LONGEST_POLL_MILLIS = 60;

	/** How often a row is tried again that is locked although its lock is free. */
	private static final int MOST_REPEATS = 3;

	private static final long REPEAT_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

	private final RowLocks locks;

	private final HeldRows heldRows;

	private final LockTable table;

	private final TableCheck tableCheck;

	private final LockKey key;

	private final String storedKey;

	private final String rowKey;

	RowLockContender(RowLocks locks, HeldRows heldRows, LockTable table, TableCheck tableCheck, LockKey key,
			LockKeyEncoder keys) {
		this.locks = locks;
		this.heldRows = heldRows;
		this.table = table;
		this.tableCheck = tableCheck;
		this.key = key;
		this.storedKey = keys.encode(key);
		this.rowKey = keys.encodeRow(key);
	}

	@Override
	public StoreCall<AttemptResult> attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
		return AnsweredStoreCall.by(() -> attemptNow(owner, lease, willWait, false, timeout));
	}

	@Override
	public StoreCall<AttemptResult> attemptBlocking(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
		return AnsweredStoreCall.by(() -> attemptNow(owner, lease, willWait, true, timeout));
	}

	private AttemptResult attemptNow(OwnerId owner, Duration lease, boolean willWait, boolean mayQueue,
			Duration timeout) {
		String ownerText = LockRow.lockedBy(owner);
		HeldRow held = this.heldRows.find(ownerText);
		if (held != null && held.key.equals(this.storedKey)) {
			return granted(owner, held.order(), held.until().remaining());
		}
		Deadline poll = Deadline.after(Duration.ofMillis(LONGEST_POLL_MILLIS));
		Deadline deadline = Deadline.after(timeout);
		this.tableCheck.complete(timeout);
		Reservation reservation = this.locks.reserve(deadline);
		HeldRow row = null;
		boolean granted = false;
		try {
			LockedRow locked = (mayQueue && this.locks.canWait(lease, deadline.remaining()))
					? lockQueueing(lease, willWait, deadline, reservation) : lockNow(willWait, deadline, reservation);
			row = (locked != null) ? new HeldRow(this.storedKey, ownerText, locked.connection(), locked.session(),
					Deadline.after(lease)) : null;
			AttemptResult result = (row != null) ? grant(row, owner, lease, deadline) : busy(poll, deadline);
			granted = result instanceof AttemptResult.Granted;
			return result;
		}
		catch (LockProviderException ex) {
			this.tableCheck.repeatAfter(ex);
			throw ex;
		}
		finally {
			if (row != null && !granted) {
				this.heldRows.end(row, this.locks.dialect());
			}
			reservation.end();
		}
	}

	private AttemptResult granted(OwnerId owner, long order, Duration validity) {
		return new AttemptResult.Granted(new LockGrant(this.key, owner, order, validity));
	}

	/**
	 * Locks the row, if need be by a wait in the queue of the database. One that is
	 * locked although the lock is free is that of a process which is about to acquire it,
	 * or of the sweeper: it is worth a wait.
	 */
	private @Nullable LockedRow lockQueueing(Duration lease, boolean willWait, Deadline deadline,
			Reservation reservation) {
		LockedRow locked = this.locks.lock(this.rowKey, willWait ? RowWait.QUEUE : RowWait.NONE, deadline.remaining(),
				reservation);
		return (locked == null && !willWait && isFree(deadline) && this.locks.canWait(lease, deadline.remaining()))
				? this.locks.lock(this.rowKey, RowWait.QUEUE, deadline.remaining(), reservation) : locked;
	}

	/**
	 * Locks the row without a wait for another transaction. A request that does not come
	 * again asks more than once while only the row is locked, and not the lock.
	 */
	private @Nullable LockedRow lockNow(boolean willWait, Deadline deadline, Reservation reservation) {
		LockedRow locked = this.locks.lock(this.rowKey, RowWait.NONE, deadline.remaining(), reservation);
		for (int again = 0; again < MOST_REPEATS && locked == null && !willWait && isFree(deadline); again++) {
			LockSupport.parkNanos(REPEAT_PAUSE_NANOS);
			locked = this.locks.lock(this.rowKey, RowWait.NONE, deadline.remaining(), reservation);
		}
		return locked;
	}

	private boolean isFree(Deadline deadline) {
		LockRow row = this.table.read(this.storedKey, deadline.remaining());
		return row == null || row.isAcquirableBy(this.table.process());
	}

	private AttemptResult grant(HeldRow row, OwnerId owner, Duration lease, Deadline deadline) {
		RowAttempt attempt = new RowAttempt(this.storedKey, row.owner, TimeUnit.NANOSECONDS.toMicros(lease.toNanos()),
				this.table.holder(), this.table.process(), false, null);
		row.prolong(Deadline.after(lease));
		LockRow written = this.table.attempt(attempt, deadline.remaining());
		if (written != null && !written.isHeldBy(row.owner) && written.isOfRowLock()) {
			// Its row is locked by this process now, so that it has ended.
			requireSession(row, lease, deadline);
			this.table.release(this.storedKey, written.owner(), 0, deadline.remaining());
			row.prolong(Deadline.after(lease));
			written = this.table.attempt(attempt, deadline.remaining());
		}
		if (written == null || !written.isHeldBy(row.owner)) {
			// During a change of the strategy a process without row locks holds the lock.
			return new AttemptResult.Busy(pollPause(), (written != null) ? written.describeHolder() : null);
		}
		row.order(written.order());
		requireSession(row, lease, deadline);
		this.heldRows.add(row, this.locks.dialect());
		return granted(owner, row.order(), lease);
	}

	private void requireSession(HeldRow row, Duration lease, Deadline deadline) {
		CompletableFuture<SessionState> state = this.heldRows.check(row, this.locks.dialect(), lease).answer();
		try {
			if (!deadline.await(CallKind.ACQUIRE, (nanos) -> HeldRows.await(state, nanos))) {
				throw failed(LockError.STORE_TIMEOUT,
						"did not answer in time through the connection of a row lock (distributed-lock.call-timeout)",
						null);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw failed(LockError.STORE_FAILED, "did not answer before the thread was interrupted", ex);
		}
		if (state.join() != SessionState.ALIVE) {
			throw row.until().isPast()
					? failed(LockError.STORE_TIMEOUT, "did not answer within the lease of " + lease.toMillis() + " ms",
							null)
					: failed(LockError.STORE_FAILED,
							"has ended the session " + row.session + " that had just locked a row", null);
		}
	}

	private static LockProviderException failed(LockError error, String problem, @Nullable Throwable cause) {
		return new LockProviderException(error, SqlErrors.PROVIDER, problem, cause);
	}

	/**
	 * A wait in the queue of the database was a pause, after which the next one begins.
	 */
	private AttemptResult busy(Deadline poll, Deadline deadline) {
		boolean waited = poll.isPast();
		LockRow row = this.table.read(this.storedKey, deadline.remaining());
		return new AttemptResult.Busy(waited ? Duration.ZERO : pollPause(),
				(row != null) ? row.describeHolder() : null);
	}

	private static Duration pollPause() {
		return Duration.ofMillis(ThreadLocalRandom.current().nextInt(SHORTEST_POLL_MILLIS, LONGEST_POLL_MILLIS));
	}

	/** There is nothing to withdraw: a wait ends with its attempt. */
	@Override
	public StoreCall<ReleaseOutcome> withdraw(Duration timeout) {
		return AnsweredStoreCall.of(ReleaseOutcome.NOT_HELD);
	}

}
