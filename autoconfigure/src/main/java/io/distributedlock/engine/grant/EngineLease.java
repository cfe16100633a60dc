package io.distributedlock.engine.grant;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ReflectionUtils;

import io.distributedlock.FencingToken;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockMode;
import io.distributedlock.LossReason;
import io.distributedlock.LossRegistration;
import io.distributedlock.ObserverScope;
import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.event.HoldObservation;

/**
 * The handle of one or several locks. It has a part for each key, and is lost if any of
 * them is lost. Of the parts some release their hold: those that were acquired, and those
 * that keep what another call has acquired; the one that is closed last ends the hold.
 * The part of a nested call has joined the part of an enclosing one, and releases
 * nothing. The handle of one key is its own part. Safe for use by many threads.
 */
public final class EngineLease implements LockLease, ObserverScope.Source {

	private static final AtomicIntegerFieldUpdater<EngineLease> CLOSED = AtomicIntegerFieldUpdater
		.newUpdater(EngineLease.class, "closed");

	private static final EngineLease[] ITSELF = {};

	/** The hold of the only key, or of the first one. */
	private final Hold hold;

	/** The parts in the order of their keys, none if there is one key. */
	private final EngineLease[] parts;

	private final Kind kind;

	/**
	 * The part that a nested one has joined. It has joined none itself, so that the depth
	 * of nested calls costs nothing.
	 */
	private final @Nullable EngineLease joined;

	/**
	 * One once this part has ended its hold; for a nested one, which ends none, once a
	 * transaction keeps what it has joined. No constructor writes it, since such a write
	 * costs as much as the rest of a nested handle.
	 */
	private volatile int closed;

	/** Creates the handle of whoever has acquired a hold. */
	EngineLease(Hold hold) {
		this(hold, ITSELF, Kind.ACQUIRED, null);
	}

	private EngineLease(Hold hold, EngineLease[] parts, Kind kind, @Nullable EngineLease joined) {
		this.hold = hold;
		this.parts = parts;
		this.kind = kind;
		this.joined = joined;
	}

	/**
	 * Combines handles, no two of which are for the same key.
	 * @param leases the handles, at least one, which have the same engine
	 */
	public static EngineLease of(List<EngineLease> leases) {
		if (leases.size() == 1) {
			return leases.get(0);
		}
		EngineLease[] parts = leases.stream()
			.flatMap(EngineLease::parts)
			.sorted(Comparator.comparing((part) -> part.hold.key()))
			.toArray(EngineLease[]::new);
		return new EngineLease(parts[0].hold, parts, Kind.ACQUIRED, null);
	}

	private Stream<EngineLease> parts() {
		return (this.parts.length > 0) ? Arrays.stream(this.parts) : Stream.of(this);
	}

	private int size() {
		return Math.max(this.parts.length, 1);
	}

	private EngineLease part(int index) {
		return (this.parts.length > 0) ? this.parts[index] : this;
	}

	/** Returns the part for a key, or {@code null} if the handle is for other keys. */
	public @Nullable EngineLease part(LockKey key) {
		for (int i = 0; i < size(); i++) {
			if (part(i).hold.key().equals(key)) {
				return part(i);
			}
		}
		return null;
	}

	/**
	 * Returns the first key of which this is a share with more permits than wanted, or
	 * {@code null} for none. An exclusive hold has none, and keeps everybody else away.
	 */
	public @Nullable LockKey firstWeaker(int permits) {
		for (int i = 0; i < size(); i++) {
			if (part(i).hold.heldGrant().permits() > permits) {
				return part(i).hold.key();
			}
		}
		return null;
	}

	/** Returns the grants, in the order of their keys. */
	public List<HeldGrant> grants() {
		return parts().map((part) -> part.hold.heldGrant()).toList();
	}

	/** Whether the locks are among these grants. */
	public boolean isOf(HeldGrants grants) {
		return this.hold.heldGrants() == grants;
	}

	@Override
	public List<LockKey> keys() {
		return (this.parts.length > 0) ? parts().map((part) -> part.hold.key()).toList() : List.of(this.hold.key());
	}

	@Override
	public FencingToken fencingToken() {
		if (this.parts.length > 0) {
			throw new IllegalStateException(
					"Several keys are held, each with a fencing token of its own: use fencingToken(LockKey)");
		}
		return this.hold.fencingToken();
	}

	@Override
	public FencingToken fencingToken(LockKey key) {
		EngineLease part = part(key);
		if (part == null) {
			throw new IllegalArgumentException("Lock '" + key + "' is not held by this handle, which has " + keys());
		}
		return part.hold.fencingToken();
	}

	@Override
	public LockMode mode(LockKey key) {
		EngineLease part = part(key);
		return (part != null) ? part.hold.heldGrant().mode() : LockMode.EXCLUSIVE;
	}

	@Override
	public String tokenSource() {
		return this.hold.heldGrants().providerName();
	}

	@Override
	public boolean isHeld() {
		for (int i = 0; i < size(); i++) {
			if (!part(i).isPartHeld()) {
				return false;
			}
		}
		return true;
	}

	private boolean isPartHeld() {
		return !releasing().hasEndedKeep() && this.hold.isHeld();
	}

	/** A closed handle is held for as long as others keep what it has acquired. */
	private boolean hasEndedKeep() {
		return this.kind == Kind.KEPT && this.closed != 0;
	}

	/** Returns the part by whose release this one ends. */
	private EngineLease releasing() {
		return (this.joined != null && this.closed == 0) ? this.joined : this;
	}

	@Override
	public Duration remaining() {
		long deadline = grants().stream().mapToLong(HeldGrant::deadlineNanos).reduce(Nanos::earlier).orElseThrow();
		return isHeld() ? Duration.ofNanos(Math.max(0, deadline - this.hold.heldGrants().nanoTime())) : Duration.ZERO;
	}

	@Override
	public @Nullable LossReason lossReason() {
		for (int i = 0; i < size(); i++) {
			LossReason reason = part(i).hold.lossReason();
			if (reason != null) {
				return reason;
			}
		}
		return null;
	}

	/**
	 * Returns the loss of a lock, or {@code null} if none was lost.
	 * @param error the error of the exception
	 */
	public @Nullable LockLostException loss(LockError error) {
		for (int i = 0; i < size(); i++) {
			LossReason reason = part(i).hold.lossReason();
			if (reason != null) {
				return new LockLostException(error, part(i).hold.key(), reason, null);
			}
		}
		return null;
	}

	/**
	 * Throws the loss of a lock, if one was lost.
	 * @param error the error of the exception
	 */
	public void throwLoss(LockError error) {
		LockLostException loss = loss(error);
		if (loss != null) {
			throw loss;
		}
	}

	/** Adds the loss of a lock, if one was lost, to what work under it has thrown. */
	public void addLossTo(Throwable thrown) {
		LockLostException loss = (thrown instanceof LockLostException) ? null : loss(LockError.LOST);
		if (loss != null) {
			thrown.addSuppressed(loss);
		}
	}

	@Override
	public void ensureHeld() {
		ensureHeld(LockError.LOST);
	}

	/**
	 * Checks that the locks are held.
	 * @param error the error of the exception if one was lost
	 */
	public void ensureHeld(LockError error) {
		if (!isHeld()) {
			throwLoss(error);
			throw new IllegalStateException("Lock " + keys() + " was released before");
		}
	}

	@Override
	public LossRegistration onLost(Runnable action) {
		if (this.parts.length == 0) {
			return this.hold.onLost(action);
		}
		AtomicBoolean notified = new AtomicBoolean();
		Runnable once = () -> {
			if (notified.compareAndSet(false, true)) {
				action.run();
			}
		};
		List<LossRegistration> registrations = parts().map((part) -> part.hold.onLost(once)).toList();
		return () -> registrations.forEach(LossRegistration::close);
	}

	/**
	 * Opens those of the parts that release their hold, that of the first key last. The
	 * scopes of joined ones are open around them.
	 */
	@Override
	public @Nullable ObserverScope openObserverScope() {
		if (this.parts.length == 0) {
			return (this.kind != Kind.JOINED) ? this.hold.openObserverScope() : null;
		}
		List<ObserverScope> opened = new ArrayList<>(this.parts.length);
		for (int i = this.parts.length - 1; i >= 0; i--) {
			ObserverScope scope = this.parts[i].openObserverScope();
			if (scope != null) {
				opened.add(scope);
			}
		}
		return HoldObservation.scope(opened);
	}

	/** Returns a handle of this part for a nested call, which releases nothing. */
	public EngineLease join() {
		return new EngineLease(this.hold, ITSELF, Kind.JOINED, releasing());
	}

	/**
	 * Whether a part has joined one of another handle without keeping its lock, so that
	 * it is not held any more when that handle is closed.
	 */
	public boolean dependsOn(EngineLease other) {
		return parts().anyMatch((part) -> part.closed == 0 && other.parts().anyMatch((outer) -> outer == part.joined));
	}

	/**
	 * Records that a transaction keeps the locks, with those that were joined: they do
	 * not depend on another handle any more.
	 */
	public void recordKept() {
		parts().filter((part) -> part.kind == Kind.JOINED).forEach((part) -> part.closed = 1);
	}

	/**
	 * Keeps the locks, so that closing this handle does not release them before the
	 * returned one is closed too.
	 * @return another handle of the locks, or {@code null} if one was released before
	 */
	public @Nullable EngineLease keep() {
		List<EngineLease> kept = new ArrayList<>(size());
		for (EngineLease part : parts().toList()) {
			// Before the hold is kept: a keeper without a handle would remain.
			EngineLease keeper = new EngineLease(part.hold, ITSELF, Kind.KEPT, null);
			if (part.releasing().hasEndedKeep() || !part.hold.keep()) {
				kept.forEach(EngineLease::closeInBackground);
				return null;
			}
			kept.add(keeper);
		}
		return of(kept);
	}

	/**
	 * Records that no work began under the locks: a release of those that were acquired
	 * frees them at once.
	 */
	public void forgetMinHold() {
		parts().filter((part) -> part.kind == Kind.ACQUIRED).forEach((part) -> part.hold.heldGrant().forgetMinHold());
	}

	@Override
	public void close() {
		if (this.parts.length == 0) {
			// Without a look at the clock for a nested call, which ends nothing.
			if (closeOnce()) {
				this.hold.endBy(this.hold.heldGrants().endOfCall());
			}
			return;
		}
		long until = this.hold.heldGrants().endOfCall();
		closeEach((part) -> {
			if (part.closeOnce()) {
				part.hold.endBy(until);
			}
		});
	}

	/** Returns whether this close is the first, and nothing else keeps the hold. */
	private boolean closeOnce() {
		return this.kind != Kind.JOINED && CLOSED.compareAndSet(this, 0, 1) && this.hold.endKeep();
	}

	/** Releases the locks in the background. */
	public void closeInBackground() {
		closeEach((part) -> {
			if (part.closeOnce()) {
				part.hold.endInBackground();
			}
		});
	}

	/** Releases the locks in the background, after no work has begun under them. */
	public void closeUnused() {
		forgetMinHold();
		closeInBackground();
	}

	@Override
	public CompletableFuture<Void> closeAsync() {
		if (this.parts.length == 0) {
			return closeOnce() ? this.hold.endAsync() : CompletableFuture.completedFuture(null);
		}
		List<CompletableFuture<Void>> ends = new ArrayList<>(this.parts.length);
		closeEach((part) -> ends.add(part.closeAsync()));
		return CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new));
	}

	/**
	 * Releases the locks as {@link #closeAsync()} does, after no work has begun under
	 * them: they are not kept for their shortest hold.
	 * @return as {@link #closeAsync()}
	 */
	public CompletableFuture<Void> closeUnusedAsync() {
		forgetMinHold();
		return closeAsync();
	}

	/** Closes every part, whatever fails, and throws the first failure. */
	private void closeEach(Consumer<EngineLease> close) {
		Throwable first = null;
		for (int i = 0; i < size(); i++) {
			try {
				close.accept(part(i));
			}
			catch (RuntimeException | Error ex) {
				first = (first != null) ? first : ex;
			}
		}
		if (first != null) {
			ReflectionUtils.rethrowRuntimeException(first);
		}
	}

	@Override
	public String toString() {
		return (this.parts.length > 0) ? Arrays.toString(this.parts) : this.hold.toString();
	}

	/** How a part has come to its hold. */
	private enum Kind {

		/** The request of this handle has acquired it. */
		ACQUIRED,
		/** Another handle has it too; whichever is closed last ends it. */
		KEPT,
		/** An enclosing call has it, and releases it. */
		JOINED

	}

}
