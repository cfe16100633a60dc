package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;

/**
 * This process's place in the contest for one row. The first attempt writes; later ones
 * of a waiter look first, because a write takes the row's lock and delays the holder's
 * release. Who was told of a release writes at once: it has the lock reserved, or now may
 * have the place.
 */
final class JdbcContender implements LockContender {

	private final JdbcLockProvider provider;

	private final LockKey key;

	private final String text;

	private final Runnable changed;

	private final Pause pause = new Pause();

	/** When this process was first refused, by the database's clock. */
	private @Nullable Long since;

	/** Whether the row may carry this process as the next in line. */
	private boolean inLine;

	private volatile boolean told;

	private volatile long lastAsked = System.nanoTime();

	JdbcContender(JdbcLockProvider provider, LockKey key, String text, Runnable changed) {
		this.provider = provider;
		this.key = key;
		this.text = text;
		this.changed = changed;
	}

	/** The database told that the lock was passed on. Any thread may say so. */
	void tell() {
		this.told = true;
		this.changed.run();
	}

	/** Something may have been missed. */
	void look() {
		this.changed.run();
	}

	boolean hasAskedSince(long instant) {
		return this.lastAsked - instant >= 0;
	}

	@Override
	public AttemptResult attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
		long start = System.nanoTime();
		Claim claim = new Claim(this.text, owner.text(), TimeUnit.NANOSECONDS.toMicros(lease.toNanos()),
				this.provider.holder(), this.provider.process(), willWait, this.since);
		boolean writeAtOnce = claim.since() == null || this.told;
		this.told = false;
		this.lastAsked = start;
		if (willWait) {
			this.inLine = true;
			this.provider.waiting().add(this.text, this);
		}
		LockRow row;
		try {
			row = this.provider.attempt(timeout,
					(connection, dialect) -> writeAtOnce ? write(connection, dialect, claim, start, timeout)
							: lookOrWrite(connection, dialect, claim, start, timeout),
					claim);
		}
		catch (RuntimeException | Error ex) {
			this.provider.waiting().remove(this.text, this);
			throw ex;
		}
		if (row == null) {
			return new AttemptResult.Busy(Pause.afterContention(), null);
		}
		if (row.heldBy(claim.owner())) {
			this.since = null;
			this.inLine = false;
			this.provider.waiting().remove(this.text, this);
			return new AttemptResult.Granted(
					new LockGrant(this.key, owner, row.order(), Duration.ofNanos(row.remaining() * 1000)));
		}
		if (willWait) {
			this.provider.listener().start();
		}
		if (willWait && this.since == null) {
			this.since = row.sinceOf(claim.process());
		}
		long age = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - start);
		Duration retryAfter = (willWait && this.provider.listener().hears()) ? this.pause.told(row, age)
				: this.pause.polling(row, claim.process(), age, this.provider.grace());
		return new AttemptResult.Busy(retryAfter, row.describeHolder());
	}

	private static LockRow lookOrWrite(Connection connection, Dialect dialect, Claim claim, long start,
			Duration timeout) throws SQLException {
		LockRow row = dialect.look(connection, claim.key());
		return (row == null || isWorthWriting(row, claim, dialect.place()))
				? write(connection, dialect, claim, start, timeout) : row;
	}

	private static boolean isWorthWriting(LockRow row, Claim claim, long place) {
		if (row.takeableBy(claim.process()) || row.heldBy(claim.owner())) {
			return true;
		}
		if (!claim.willWait() || claim.since() == null) {
			return false;
		}
		if (row.placeHeldBy(claim.process())) {
			return row.placeLeft() != null && row.placeLeft() < place / 2;
		}
		if (row.placeOpenTo(claim.since())) {
			return true;
		}
		if (row.secondHeldBy(claim.process())) {
			return row.thenLeft() != null && row.thenLeft() < place / 2;
		}
		return row.secondOpenTo(claim.since());
	}

	/**
	 * Two first inserts of one key can collide in H2: then the row is there for the
	 * second try. A row that stays locked although nobody holds the lock is locked by
	 * something else, which is no contention.
	 */
	private static LockRow write(Connection connection, Dialect dialect, Claim claim, long start, Duration timeout)
			throws SQLException {
		while (true) {
			try {
				return dialect.attempt(connection, claim);
			}
			catch (SQLException ex) {
				if (SqlErrors.isRowLocked(ex)) {
					LockRow row = dialect.look(connection, claim.key());
					if (row != null && !row.takeableBy(claim.process())) {
						return row;
					}
					throw new SQLTimeoutException(
							"the row of a lock that nobody holds is locked by another transaction", ex);
				}
				if (!SqlErrors.isDuplicateKey(ex) || System.nanoTime() - start > timeout.toNanos()) {
					throw ex;
				}
			}
		}
	}

	@Override
	public ReleaseOutcome withdraw(Duration timeout) {
		this.provider.waiting().remove(this.text, this);
		if (!this.inLine) {
			return ReleaseOutcome.NOT_HELD;
		}
		ReleaseOutcome outcome = this.provider.withdraw(this.text, timeout);
		this.inLine = outcome == ReleaseOutcome.UNKNOWN;
		return outcome;
	}

}
