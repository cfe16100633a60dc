package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * Contender of this process for one row. Its first attempt and the first one after a
 * notification write the row at once. The others read it, and write only if that would
 * change it.
 */
final class JdbcContender implements LockContender, NotifiedContender {

	private final LockTable table;

	private final NotificationListener listener;

	private final LockKey key;

	private final String storedKey;

	private final Runnable changed;

	private final PollBackOff backOff = new PollBackOff();

	/** When this process was first refused, since 1970 by the database's clock. */
	private @Nullable Long sinceMicros;

	/** Whether the wait queue may have an entry of this process. */
	private boolean queued;

	private volatile boolean notified;

	private volatile long lastAttemptNanos = System.nanoTime();

	JdbcContender(LockTable table, NotificationListener listener, LockKey key, String storedKey, Runnable changed) {
		this.table = table;
		this.listener = listener;
		this.key = key;
		this.storedKey = storedKey;
		this.changed = changed;
	}

	@Override
	public void onNotification() {
		this.notified = true;
		this.changed.run();
	}

	@Override
	public void onListeningChanged() {
		this.changed.run();
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
		LockAttempt attempt = new LockAttempt(this.storedKey, owner.text(),
				TimeUnit.NANOSECONDS.toMicros(lease.toNanos()), this.table.holder(), this.table.process(), willWait,
				this.sinceMicros);
		boolean writeAtOnce = attempt.sinceMicros() == null || this.notified;
		this.notified = false;
		this.lastAttemptNanos = startNanos;
		if (willWait) {
			this.queued = true;
			this.listener.register(this.storedKey, this);
		}
		LockRow row;
		try {
			row = writeAtOnce ? this.table.attempt(attempt, timeout) : this.table.poll(attempt, timeout);
		}
		catch (RuntimeException | Error ex) {
			this.listener.unregister(this.storedKey, this);
			throw ex;
		}
		if (row == null) {
			return new AttemptResult.Busy(PollBackOff.afterContention(), null);
		}
		return row.isHeldBy(attempt.owner()) ? granted(row, owner) : busy(row, willWait, startNanos);
	}

	private AttemptResult granted(LockRow row, OwnerId owner) {
		this.sinceMicros = null;
		this.queued = false;
		this.listener.unregister(this.storedKey, this);
		return new AttemptResult.Granted(
				new LockGrant(this.key, owner, row.order(), Duration.ofNanos(row.remainingMicros() * 1000)));
	}

	private AttemptResult busy(LockRow row, boolean willWait, long startNanos) {
		if (willWait) {
			this.listener.start();
			if (this.sinceMicros == null) {
				this.sinceMicros = row.sinceMicros(this.table.process());
			}
		}
		long ageMicros = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - startNanos);
		Duration retryAfter = (willWait && this.listener.isReceiving()) ? this.backOff.notified(row, ageMicros)
				: this.backOff.polling(row, this.table.process(), ageMicros, this.table.reservationMicros());
		return new AttemptResult.Busy(retryAfter, row.describeHolder());
	}

	@Override
	public StoreCall<ReleaseOutcome> withdraw(Duration timeout) {
		return AnsweredStoreCall.by(() -> leaveQueue(timeout));
	}

	private ReleaseOutcome leaveQueue(Duration timeout) {
		this.listener.unregister(this.storedKey, this);
		if (!this.queued) {
			return ReleaseOutcome.NOT_HELD;
		}
		ReleaseOutcome outcome = this.table.withdraw(this.storedKey, timeout);
		this.queued = outcome == ReleaseOutcome.UNKNOWN;
		return outcome;
	}

	@Override
	public void close() {
		this.listener.unregister(this.storedKey, this);
	}

}
