package io.distributedlock.support;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LossReason;
import io.distributedlock.provider.Deadline;

/**
 * A handle for several locks: it is lost if any of them is lost. Closing it releases the
 * locks that it owns, each independently of the others. It does not release joined locks.
 */
final class MultiKeyLease implements JoinableLease {

	private final List<JoinableLease> owned;

	private final List<JoinableLease> all;

	private final List<LockKey> keys;

	private final Duration callTimeout;

	/**
	 * Creates a handle.
	 * @param keys the requested keys, which the locks cover
	 * @param owned the locks that this handle releases
	 * @param joined the locks of enclosing calls
	 * @param callTimeout how long closing may take
	 */
	MultiKeyLease(List<LockKey> keys, List<JoinableLease> owned, List<JoinableLease> joined, Duration callTimeout) {
		this.keys = keys;
		this.owned = List.copyOf(owned);
		this.all = joined.isEmpty() ? this.owned : Stream.concat(owned.stream(), joined.stream()).toList();
		this.callTimeout = callTimeout;
	}

	@Override
	public boolean isOf(LockEngine engine) {
		return this.all.get(0).isOf(engine);
	}

	@Override
	public List<LockKey> keys() {
		return this.keys;
	}

	@Override
	public FencingToken fencingToken() {
		if (this.keys.size() > 1) {
			throw new IllegalStateException(
					"Several keys are held, each with a fencing token of its own: use fencingToken(LockKey)");
		}
		return fencingToken(this.keys.get(0));
	}

	@Override
	public FencingToken fencingToken(LockKey key) {
		for (JoinableLease part : this.all) {
			if (part.keys().contains(key)) {
				return part.fencingToken(key);
			}
		}
		throw new IllegalArgumentException("Lock '" + key + "' is not held by this handle, but " + this.keys + " are");
	}

	@Override
	public boolean isHeld() {
		for (JoinableLease part : this.all) {
			if (!part.isHeld()) {
				return false;
			}
		}
		return true;
	}

	@Override
	public Duration remaining() {
		return this.all.stream().map(JoinableLease::remaining).min(Duration::compareTo).orElse(Duration.ZERO);
	}

	@Override
	public @Nullable LossReason lossReason() {
		for (JoinableLease part : this.all) {
			LossReason reason = part.lossReason();
			if (reason != null) {
				return reason;
			}
		}
		return null;
	}

	@Override
	public void throwLoss(LockError error) {
		this.all.forEach((part) -> part.throwLoss(error));
	}

	@Override
	public void ensureHeld() {
		throwLoss(LockError.LOST);
		this.all.forEach(JoinableLease::ensureHeld);
	}

	@Override
	public void onLost(Runnable action) {
		AtomicBoolean notified = new AtomicBoolean();
		Runnable once = () -> {
			if (notified.compareAndSet(false, true)) {
				action.run();
			}
		};
		this.all.forEach((part) -> part.onLost(once));
	}

	@Override
	public void close() {
		closeBy(Deadline.after(this.callTimeout));
	}

	@Override
	public void closeBy(Deadline deadline) {
		this.owned.forEach((part) -> part.closeBy(deadline));
	}

	@Override
	public String toString() {
		return this.all.toString();
	}

}
