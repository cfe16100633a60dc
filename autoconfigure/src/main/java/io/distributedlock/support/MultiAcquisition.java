package io.distributedlock.support;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;

/**
 * A request's way to several keys, one after the other in their order, all or none. What
 * is already taken is renewed until the last is granted; the hold begins there.
 */
final class MultiAcquisition implements Acquisition {

	private final LockEngine engine;

	private final List<LockKey> keys;

	private final LockTerms terms;

	private final WaitBudget budget;

	private final Waiter waiter;

	private final List<JoinableLease> taken = new ArrayList<>();

	private SingleAcquisition current;

	private @Nullable MultiKeyLease lease;

	MultiAcquisition(LockEngine engine, List<LockKey> keys, LockTerms terms, WaitBudget budget, Waiter waiter) {
		this.engine = engine;
		this.keys = keys;
		this.terms = terms;
		this.budget = budget;
		this.waiter = waiter;
		this.current = wayTo(0);
	}

	private SingleAcquisition wayTo(int index) {
		return new SingleAcquisition(this.engine, this.keys.get(index), this.terms, this.budget, this.waiter, false);
	}

	@Override
	public Progress step() {
		try {
			while (true) {
				Progress progress = this.current.step();
				if (progress == Progress.BUSY) {
					giveBack();
				}
				if (progress != Progress.ACQUIRED) {
					return progress;
				}
				this.taken.add(this.current.lease());
				if (this.taken.size() == this.keys.size()) {
					return complete();
				}
				this.current = wayTo(this.taken.size());
			}
		}
		catch (RuntimeException | Error ex) {
			abandon();
			throw ex;
		}
	}

	private Progress complete() {
		long now = System.nanoTime();
		for (JoinableLease part : this.taken) {
			part.throwLoss(LockError.LOST_WHILE_ACQUIRING);
			this.engine.beginHold((SingleKeyLease) part, now, this.terms);
		}
		this.lease = new MultiKeyLease(this.keys, this.taken, List.of(), this.engine.settings().callTimeout());
		return Progress.ACQUIRED;
	}

	/** In the background: the budget may be used up, or the thread interrupted. */
	private void giveBack() {
		long now = System.nanoTime();
		this.taken.forEach((part) -> part.closeBy(now));
		this.taken.clear();
	}

	@Override
	public long waitUntil() {
		return this.current.waitUntil();
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
		giveBack();
	}

}
