package io.distributedlock.support;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLostException;
import io.distributedlock.LossReason;
import io.distributedlock.provider.Deadline;

/**
 * The handle of one hold of a grant. A handle whose hold has ended has no effect any
 * more.
 */
final class SingleKeyLease implements JoinableLease {

	private final LockEngine engine;

	private final HeldGrant heldGrant;

	private final int holdNumber;

	private final AtomicReference<@Nullable SerialQueue> callbacks = new AtomicReference<>();

	/** The actions that run at the loss; {@link LossActions#DONE} after that. */
	private final AtomicReference<@Nullable LossActions> lossActions = new AtomicReference<>();

	SingleKeyLease(LockEngine engine, HeldGrant heldGrant, int holdNumber) {
		this.engine = engine;
		this.heldGrant = heldGrant;
		this.holdNumber = holdNumber;
	}

	HeldGrant heldGrant() {
		return this.heldGrant;
	}

	LockKey key() {
		return this.heldGrant.grant().key();
	}

	/** Returns the queue that runs the callbacks of this handle in order. */
	SerialQueue callbacks() {
		SerialQueue queue = this.callbacks.get();
		if (queue == null) {
			SerialQueue created = this.engine.events().newQueue();
			queue = this.callbacks.compareAndSet(null, created) ? created : this.callbacks.get();
		}
		return (queue != null) ? queue : callbacks();
	}

	@Override
	public boolean isOf(LockEngine engine) {
		return this.engine == engine;
	}

	@Override
	public List<LockKey> keys() {
		return List.of(key());
	}

	@Override
	public FencingToken fencingToken() {
		return this.heldGrant.token(this.holdNumber);
	}

	@Override
	public FencingToken fencingToken(LockKey key) {
		if (!key.equals(key())) {
			throw new IllegalArgumentException("Lock '" + key + "' is not held by this handle, but '" + key() + "' is");
		}
		return fencingToken();
	}

	@Override
	public boolean isHeld() {
		while (this.heldGrant.isAt(this.holdNumber)) {
			if (!Nanos.isPast(this.heldGrant.deadlineNanos(), System.nanoTime())) {
				return true;
			}
			this.engine.lose(this, this.heldGrant.reasonOfDeadline());
		}
		return false;
	}

	@Override
	public Duration remaining() {
		return isHeld() ? Duration.ofNanos(Math.max(0, this.heldGrant.deadlineNanos() - System.nanoTime()))
				: Duration.ZERO;
	}

	@Override
	public @Nullable LossReason lossReason() {
		return isHeld() ? null : this.heldGrant.lossReason();
	}

	@Override
	public void ensureHeld() {
		if (!isHeld()) {
			throwLoss(LockError.LOST);
			throw new IllegalStateException("Lock '" + key() + "' was released before");
		}
	}

	@Override
	public void throwLoss(LockError error) {
		LossReason reason = lossReason();
		if (reason != null) {
			throw new LockLostException(error, key(), reason, null);
		}
	}

	@Override
	public void onLost(Runnable action) {
		LossActions current;
		LossActions extended;
		do {
			current = this.lossActions.get();
			if (current == LossActions.DONE) {
				callbacks().execute(action);
				return;
			}
			extended = new LossActions(action, current);
		}
		while (!this.lossActions.compareAndSet(current, extended));
	}

	void runLossActions() {
		Deque<Runnable> inOrder = new ArrayDeque<>();
		LossActions actions = this.lossActions.getAndSet(LossActions.DONE);
		while (actions != null && actions != LossActions.DONE) {
			inOrder.push(actions.action());
			actions = actions.earlier();
		}
		inOrder.forEach(callbacks()::execute);
	}

	@Override
	public void close() {
		closeBy(Deadline.after(this.engine.settings().callTimeout()));
	}

	@Override
	public void closeBy(Deadline deadline) {
		if (isHeld() && this.heldGrant.release(this.holdNumber)) {
			long leftNanos = deadline.remainingNanos();
			if (leftNanos > 0 || this.engine.isStopping()) {
				this.engine.release(this, Duration.ofNanos(Math.max(leftNanos, 1)));
			}
			else {
				this.engine.releaseLater(this);
			}
		}
		else if (this.heldGrant.lossReason() != null) {
			this.engine.abandon(this);
		}
	}

	@Override
	public String toString() {
		return "Lock '" + key() + "', token " + fencingToken() + (isHeld() ? ", held" : ", not held");
	}

	/** A stack of actions, the latest first. */
	private record LossActions(Runnable action, @Nullable LossActions earlier) {

		static final LossActions DONE = new LossActions(() -> {
		}, null);

	}

}
