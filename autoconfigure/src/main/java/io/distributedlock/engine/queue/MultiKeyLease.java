package io.distributedlock.engine.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LossReason;
import io.distributedlock.LossRegistration;
import io.distributedlock.ObserverScope;
import io.distributedlock.engine.event.HoldObservation;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.HeldGrants;
import io.distributedlock.engine.grant.JoinableLease;

/**
 * A handle for several locks: it is lost if any of them is lost. Closing it releases the
 * locks that it owns, each independently of the others. It does not release joined locks.
 */
public final class MultiKeyLease implements JoinableLease {

	private final List<JoinableLease> owned;

	private final List<JoinableLease> all;

	private final List<LockKey> keys;

	private final HeldGrants heldGrants;

	/** Whether a transaction keeps the joined locks too. */
	private volatile boolean kept;

	/**
	 * Creates a handle.
	 * @param keys the requested keys, which the locks cover
	 * @param owned the locks that this handle releases
	 * @param joined the locks of enclosing calls
	 * @param heldGrants the grants that all of them are among
	 */
	public MultiKeyLease(List<LockKey> keys, List<JoinableLease> owned, List<JoinableLease> joined,
			HeldGrants heldGrants) {
		this.keys = keys;
		this.owned = List.copyOf(owned);
		this.all = joined.isEmpty() ? this.owned : all(this.owned, joined);
		this.heldGrants = heldGrants;
	}

	private static List<JoinableLease> all(List<JoinableLease> owned, List<JoinableLease> joined) {
		return owned.isEmpty() ? List.copyOf(joined) : Stream.concat(owned.stream(), joined.stream()).toList();
	}

	@Override
	public boolean covers(LockKey key) {
		return this.keys.contains(key);
	}

	@Override
	public JoinableLease owner(LockKey key) {
		return this.owned.isEmpty() ? part(key).owner(key) : this;
	}

	private JoinableLease part(LockKey key) {
		for (JoinableLease part : this.all) {
			if (part.covers(key)) {
				return part;
			}
		}
		throw new IllegalArgumentException("Lock '" + key + "' is not held by this handle, but " + this.keys + " are");
	}

	@Override
	public long minHoldNanos(LockKey key) {
		return part(key).minHoldNanos(key);
	}

	@Override
	public void prolongMinHold(LockKey key, long untilNanos, Consumer<HeldGrant> uncovered) {
		part(key).prolongMinHold(key, untilNanos, uncovered);
	}

	@Override
	public void forgetMinHold() {
		this.owned.forEach(JoinableLease::forgetMinHold);
	}

	@Override
	public boolean dependsOn(JoinableLease enclosing) {
		return !this.kept && this.all.subList(this.owned.size(), this.all.size())
			.stream()
			.anyMatch((joined) -> joined == enclosing || joined.dependsOn(enclosing));
	}

	@Override
	public void recordKept() {
		this.kept = true;
	}

	@Override
	public boolean isOf(HeldGrants grants) {
		return this.heldGrants == grants;
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
		return part(key).fencingToken(key);
	}

	@Override
	public String tokenSource() {
		return this.heldGrants.providerName();
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
		for (JoinableLease part : this.all) {
			part.throwLoss(error);
		}
	}

	@Override
	public void ensureHeld() {
		throwLoss(LockError.LOST);
		this.all.forEach(JoinableLease::ensureHeld);
	}

	/**
	 * Opens those of the locks that the handle owns, that of the first key last. The
	 * scopes of joined ones are open around them.
	 */
	@Override
	public @Nullable ObserverScope openObserverScope() {
		List<ObserverScope> opened = new ArrayList<>(this.owned.size());
		for (int i = this.owned.size() - 1; i >= 0; i--) {
			ObserverScope scope = this.owned.get(i).openObserverScope();
			if (scope != null) {
				opened.add(scope);
			}
		}
		return HoldObservation.scope(opened);
	}

	@Override
	public LossRegistration onLost(Runnable action) {
		AtomicBoolean notified = new AtomicBoolean();
		Runnable once = () -> {
			if (notified.compareAndSet(false, true)) {
				action.run();
			}
		};
		List<LossRegistration> registrations = this.all.stream().map((part) -> part.onLost(once)).toList();
		return () -> registrations.forEach(LossRegistration::close);
	}

	@Override
	public void close() {
		if (this.owned.isEmpty()) {
			return;
		}
		closeBy(this.heldGrants.endOfCall());
	}

	@Override
	public void closeBy(long instantNanos) {
		closeAll(this.owned, (part) -> part.closeBy(instantNanos));
	}

	@Override
	public void closeInBackground() {
		closeAll(this.owned, JoinableLease::closeInBackground);
	}

	@Override
	public CompletableFuture<Void> closeAsync() {
		List<CompletableFuture<Void>> ends = new ArrayList<>(this.owned.size());
		closeAll(this.owned, (part) -> ends.add(part.closeAsync()));
		return CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new));
	}

	@Override
	public @Nullable JoinableLease keep() {
		List<JoinableLease> kept = keepAll(this.all);
		return (kept != null) ? new MultiKeyLease(this.keys, kept, List.of(), this.heldGrants) : null;
	}

	/** Keeps all locks, or none if one was released before. */
	public static @Nullable List<JoinableLease> keepAll(List<JoinableLease> parts) {
		List<JoinableLease> kept = new ArrayList<>(parts.size());
		for (JoinableLease part : parts) {
			JoinableLease keptPart = part.keep();
			if (keptPart == null) {
				closeAll(kept, JoinableLease::closeInBackground);
				return null;
			}
			kept.add(keptPart);
		}
		return kept;
	}

	/** Closes every part, whatever fails, and throws the first failure. */
	public static <T extends JoinableLease> void closeAll(List<T> parts, Consumer<? super T> close) {
		Throwable first = null;
		for (T part : parts) {
			try {
				close.accept(part);
			}
			catch (RuntimeException | Error ex) {
				if (first == null) {
					first = ex;
				}
				else {
					first.addSuppressed(ex);
				}
			}
		}
		if (first instanceof Error error) {
			throw error;
		}
		if (first instanceof RuntimeException failure) {
			throw failure;
		}
	}

	@Override
	public String toString() {
		return this.all.toString();
	}

}
