package io.distributedlock.support;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.provider.Deadline;

/**
 * A request for several keys, acquired one after the other in their order, all or none.
 * Locks that are acquired are renewed until the last one is granted; then the hold
 * begins.
 */
final class MultiAcquisition implements Acquisition {

	private final LockEngine engine;

	private final List<LockKey> keys;

	private final LockTerms terms;

	private final WaitBudget budget;

	private final Waiter waiter;

	private final List<JoinableLease> acquired = new ArrayList<>();

	private SingleAcquisition current;

	private @Nullable MultiKeyLease lease;

	MultiAcquisition(LockEngine engine, List<LockKey> keys, LockTerms terms, WaitBudget budget, Waiter waiter) {
		this.engine = engine;
		this.keys = keys;
		this.terms = terms;
		this.budget = budget;
		this.waiter = waiter;
		this.current = request(0);
	}

	private SingleAcquisition request(int index) {
		return new SingleAcquisition(this.engine, this.keys.get(index), this.terms, this.budget, this.waiter, false);
	}

	@Override
	public Progress step() {
		try {
			while (true) {
				Progress progress = this.current.step();
				if (progress == Progress.BUSY) {
					releaseAcquired();
				}
				if (progress != Progress.ACQUIRED) {
					return progress;
				}
				this.acquired.add(this.current.lease());
				if (this.acquired.size() == this.keys.size()) {
					return complete();
				}
				this.current = request(this.acquired.size());
			}
		}
		catch (RuntimeException | Error ex) {
			abandon();
			throw ex;
		}
	}

	private Progress complete() {
		long now = System.nanoTime();
		for (JoinableLease part : this.acquired) {
			part.throwLoss(LockError.LOST_WHILE_ACQUIRING);
			part.ensureHeld();
			this.engine.beginHold((SingleKeyLease) part, now, this.terms);
		}
		this.lease = new MultiKeyLease(this.keys, this.acquired, List.of(), this.engine.settings().callTimeout());
		return Progress.ACQUIRED;
	}

	/**
	 * Releases in the background, because the budget may be used up, or the thread
	 * interrupted.
	 */
	private void releaseAcquired() {
		Deadline now = Deadline.now();
		this.acquired.forEach((part) -> part.closeBy(now));
		this.acquired.clear();
	}

	@Override
	public long waitUntilNanos() {
		return this.current.waitUntilNanos();
	}

	@Override
	public JoinableLease lease() {
		return Objects.requireNonNull(this.lease);
	}

	@Override
	public LockKey key() {
		return this.current.key();
	}

	@Override
	public @Nullable LockHolder holder() {
		return this.current.holder();
	}

	@Override
	public void abandon() {
		if (this.lease == null) {
			this.current.abandon();
		}
		releaseAcquired();
	}

}
