package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.jdbc.dialect.LockRow;
import io.distributedlock.jdbc.dialect.NotificationPayload;
import io.distributedlock.jdbc.dialect.RowAttempt;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * Contender of this process for one row, or for shares of it with one limit. Its first
 * attempt and the first one after the lock was reserved for it write the row at once. The
 * others read it, and write only if that would change it; so does a first attempt that
 * does not wait for a lock that was busy a moment ago.
 */
final class JdbcContender implements LockContender, NotifiedContender {

	private final LockTable table;

	private final TableCheck tableCheck;

	private final NotificationListener listener;

	private final LockKey key;

	private final String storedKey;

	/** The most shares that there may be with one of this contender, 0 for no share. */
	private final int limit;

	private final String id;

	private final PollSignal signal;

	/** When this process was first refused, since 1970 by the database's clock. */
	private volatile @Nullable Long sinceMicros;

	private boolean attempted;

	/** Whether the wait queue may have an entry of this process. */
	private boolean queued;

	/** Whether a notification has said that the lock is reserved for this process. */
	private volatile boolean reserved;

	private volatile long lastAttemptNanos = System.nanoTime();

	/**
	 * Creates a contender. It keeps the place in the wait queue of an earlier contender
	 * of this process that was not withdrawn yet.
	 */
	JdbcContender(LockTable table, TableCheck tableCheck, NotificationListener listener, LockKey key, String storedKey,
			int limit, PollSignal signal) {
		this.table = table;
		this.tableCheck = tableCheck;
		this.listener = listener;
		this.key = key;
		this.storedKey = storedKey;
		this.limit = limit;
		this.id = RowAttempt.contender(table.process(), limit);
		this.signal = signal;
		for (NotifiedContender earlier : listener.find(storedKey)) {
			if (this.id.equals(earlier.id())) {
				this.sinceMicros = earlier.sinceMicros();
			}
		}
	}

	@Override
	public String id() {
		return this.id;
	}

	@Override
	public void onNotification(NotificationPayload payload) {
		if (this.id.equals(payload.reserved())) {
			this.reserved = true;
			this.signal.send();
		}
		else {
			this.signal.sendAfter(
					PollBackOff.afterNotification(payload, this.id, this.sinceMicros, this.table.reservationMicros()));
		}
	}

	@Override
	public void onListeningChanged() {
		this.signal.send();
	}

	@Override
	public @Nullable Long sinceMicros() {
		return this.sinceMicros;
	}

	@Override
	public boolean hasAttemptedSince(long nanos) {
		return this.lastAttemptNanos - nanos >= 0;
	}

	@Override
	public StoreCall<AttemptResult> attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
		return AnsweredStoreCall.by(() -> attemptOrPoll(owner, lease, willWait, timeout));
	}

	private AttemptResult attemptOrPoll(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
		long startNanos = System.nanoTime();
		RowAttempt attempt = new RowAttempt(this.storedKey, LockRow.heldBy(owner),
				TimeUnit.NANOSECONDS.toMicros(lease.toNanos()), this.table.holder(), this.id, willWait,
				this.sinceMicros, this.limit);
		boolean writeAtOnce = this.reserved
				|| (!this.attempted && (willWait || !this.table.isLikelyBusy(this.storedKey)));
		this.attempted = true;
		this.reserved = false;
		// What it would find is found by this attempt.
		this.signal.cancel();
		this.lastAttemptNanos = startNanos;
		if (willWait) {
			this.queued = true;
			this.listener.register(this.storedKey, this);
		}
		LockRow row;
		try {
			Duration left = this.tableCheck.complete(timeout);
			row = writeAtOnce ? this.table.attempt(attempt, left) : this.table.poll(attempt, left);
		}
		catch (RuntimeException | Error ex) {
			this.tableCheck.repeatAfter(ex);
			unregister();
			throw ex;
		}
		if (row == null) {
			return new AttemptResult.Busy(PollBackOff.afterContention(), null);
		}
		return row.isHeldBy(attempt.owner()) ? granted(row, owner) : busy(row, attempt, startNanos);
	}

	private AttemptResult granted(LockRow row, OwnerId owner) {
		this.sinceMicros = null;
		this.attempted = false;
		this.queued = false;
		unregister();
		return new AttemptResult.Granted(
				new LockGrant(this.key, owner, row.order(), Duration.ofNanos(row.remainingMicros() * 1000)));
	}

	private AttemptResult busy(LockRow row, RowAttempt attempt, long startNanos) {
		if (attempt.willWait()) {
			this.listener.start();
			if (this.sinceMicros == null) {
				this.sinceMicros = row.sinceMicros(this.id);
			}
		}
		long ageMicros = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - startNanos);
		long reservationMicros = this.table.reservationMicros();
		Duration retryAfter = (attempt.willWait() && this.listener.isReceiving())
				? PollBackOff.notified(row, attempt, ageMicros, reservationMicros)
				: PollBackOff.polling(row, attempt, ageMicros, reservationMicros);
		return new AttemptResult.Busy(retryAfter, row.describeHolder());
	}

	@Override
	public StoreCall<ReleaseOutcome> withdraw(Duration timeout) {
		return AnsweredStoreCall.by(() -> leaveQueue(timeout));
	}

	private ReleaseOutcome leaveQueue(Duration timeout) {
		unregister();
		if (!this.queued) {
			return ReleaseOutcome.NOT_HELD;
		}
		ReleaseOutcome outcome = this.table.withdraw(this.storedKey, this.id, timeout);
		this.queued = outcome == ReleaseOutcome.UNKNOWN;
		return outcome;
	}

	private void unregister() {
		this.listener.unregister(this.storedKey, this);
		this.signal.cancel();
	}

	@Override
	public void close() {
		unregister();
	}

}
