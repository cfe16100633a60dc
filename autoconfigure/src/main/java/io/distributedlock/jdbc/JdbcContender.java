package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.LockProvider.Attempt;
import io.distributedlock.LockProvider.Contender;
import io.distributedlock.LockProvider.Grant;
import io.distributedlock.LockProvider.ReleaseOutcome;
import io.distributedlock.OwnerId;

/**
 * This process's place in the contest for one row. The first attempt writes; later ones
 * of a waiter look first, because a write takes the row's lock and delays the holder's
 * release.
 */
final class JdbcContender implements Contender {

	private final JdbcLockProvider provider;

	private final LockKey key;

	private final String text;

	private final Pause pause = new Pause();

	/** When this process was first refused, by the database's clock. */
	private @Nullable Long since;

	/** Whether the row may carry this process as the next in line. */
	private boolean inLine;

	JdbcContender(JdbcLockProvider provider, LockKey key, String text) {
		this.provider = provider;
		this.key = key;
		this.text = text;
	}

	@Override
	public Attempt attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
		long start = System.nanoTime();
		Claim claim = new Claim(this.text, owner.text(), TimeUnit.NANOSECONDS.toMicros(lease.toNanos()),
				this.provider.holder(), this.provider.process(), willWait, this.since);
		this.inLine |= willWait;
		LockRow row = this.provider.attempt(timeout,
				(connection, dialect) -> (claim.since() == null) ? write(connection, dialect, claim, start, timeout)
						: lookOrWrite(connection, dialect, claim, start, timeout),
				claim);
		if (row == null) {
			return new Attempt.Busy(Pause.afterContention(), null);
		}
		if (row.heldBy(claim.owner())) {
			this.since = null;
			this.inLine = false;
			return new Attempt.Granted(
					new Grant(this.key, owner, row.order(), Duration.ofNanos(row.remaining() * 1000)));
		}
		if (willWait && this.since == null) {
			this.since = row.placeHeldBy(claim.process()) ? (Long) row.nextSince() : (Long) row.now();
		}
		long age = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - start);
		return new Attempt.Busy(this.pause.after(row, claim.process(), age), row.describeHolder());
	}

	private static LockRow lookOrWrite(Connection connection, Dialect dialect, Claim claim, long start,
			Duration timeout) throws SQLException {
		LockRow row = dialect.look(connection, claim.key());
		return (row == null || isWorthWriting(row, claim)) ? write(connection, dialect, claim, start, timeout) : row;
	}

	private static boolean isWorthWriting(LockRow row, Claim claim) {
		if (row.takeableBy(claim.process()) || row.heldBy(claim.owner())) {
			return true;
		}
		if (!claim.willWait() || claim.since() == null) {
			return false;
		}
		if (row.placeHeldBy(claim.process())) {
			return row.placeLeft() != null && row.placeLeft() < Claim.PLACE / 2;
		}
		return row.placeOpenTo(claim.since());
	}

	/**
	 * Two first inserts of one key can collide in H2: then the row is there for the
	 * second try.
	 */
	private static LockRow write(Connection connection, Dialect dialect, Claim claim, long start, Duration timeout)
			throws SQLException {
		while (true) {
			try {
				return dialect.attempt(connection, claim);
			}
			catch (SQLException ex) {
				if (!SqlErrors.isDuplicateKey(ex) || System.nanoTime() - start > timeout.toNanos()) {
					throw ex;
				}
			}
		}
	}

	@Override
	public ReleaseOutcome withdraw(Duration timeout) {
		if (!this.inLine) {
			return ReleaseOutcome.NOT_HELD;
		}
		ReleaseOutcome outcome = this.provider.withdraw(this.text, timeout);
		this.inLine = outcome == ReleaseOutcome.UNKNOWN;
		return outcome;
	}

}
