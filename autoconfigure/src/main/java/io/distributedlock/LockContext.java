package io.distributedlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * The locks that the current thread runs under: those that {@link LockOperations#execute}
 * and annotated methods hold around their bodies. A nested request joins the locks that
 * it finds here. The context belongs to the thread, and is empty again after the body.
 *
 * @since 0.1.0
 */
public final class LockContext {

	private static final ThreadLocal<Scope> SCOPES = new ThreadLocal<>();

	private LockContext() {
	}

	/**
	 * Returns the innermost lock that this thread runs under.
	 * @return the handle
	 * @throws IllegalStateException if it runs under none
	 */
	public static LockLease current() {
		return find().orElseThrow(() -> new IllegalStateException(
				"No lock is held on this thread. Call the method through its Spring proxy, or inside LockOperations.execute"));
	}

	/**
	 * Finds the innermost lock that this thread runs under.
	 * @return the handle, or empty
	 */
	public static Optional<LockLease> find() {
		Scope scope = innermost();
		return (scope != null) ? Optional.of(scope.lease) : Optional.empty();
	}

	/**
	 * Finds all locks that this thread runs under.
	 * @return the handles, the innermost first; empty if there are none
	 */
	public static List<LockLease> findAll() {
		Scope scope = innermost();
		return (scope != null) ? scope.leases() : List.of();
	}

	/**
	 * Returns the innermost scope, after it has removed the closed ones: another thread
	 * closes a scope, but only its own thread can remove it.
	 */
	private static @Nullable Scope innermost() {
		Scope innermost = SCOPES.get();
		for (Scope scope = innermost; scope != null; scope = scope.outer) {
			if (scope.closed) {
				return removeClosed();
			}
		}
		return innermost;
	}

	private static @Nullable Scope removeClosed() {
		Scope innermost = null;
		Scope inner = null;
		for (Scope scope = SCOPES.get(); scope != null; scope = scope.outer) {
			if (!scope.closed) {
				scope.leases = null;
				if (inner == null) {
					innermost = scope;
				}
				else {
					inner.outer = scope;
				}
				inner = scope;
			}
		}
		if (inner != null) {
			inner.outer = null;
		}
		set(innermost);
		return innermost;
	}

	private static void set(@Nullable Scope scope) {
		if (scope != null) {
			SCOPES.set(scope);
		}
		else {
			SCOPES.remove();
		}
	}

	/**
	 * Checks that no lock of this thread was lost, except those whose loss is
	 * {@link Scope#ignoreLoss() ignored}. Call it before work is made final.
	 * @throws LockLostException if a lock was lost
	 */
	public static void ensureNoneLost() {
		ensureNoneLost(Duration.ZERO);
	}

	/**
	 * Checks also that each lock of this thread lasts for some time, unless it has been
	 * closed or its loss is ignored.
	 * @param margin the least time for which each lock has to last
	 * @throws LockLostException if a lock was lost, or ends sooner than that
	 */
	public static void ensureNoneLost(Duration margin) {
		for (Scope scope = innermost(); scope != null; scope = scope.outer) {
			if (!scope.lossIgnored) {
				scope.ensureNotLost(margin);
			}
		}
	}

	/**
	 * Opens a scope on this thread: until it is closed, the thread runs under the lock,
	 * which {@link #current()} returns. {@link LockOperations#execute} does so around the
	 * body. Call it where a handle was acquired otherwise and the code below has to find
	 * it. A scope neither renews nor releases the lock. It has the scopes of those who
	 * {@linkplain ObserverScope observe} the lock.
	 * @param lease the held lock
	 * @return the scope, to be closed by the same thread before any scope around it
	 */
	public static Scope open(LockLease lease) {
		Scope scope = new Scope(lease, innermost(), Kind.NESTED);
		scope.observers = ObserverScope.open(lease);
		SCOPES.set(scope);
		return scope;
	}

	/**
	 * Opens a scope that may be closed in any order: closing a scope around it leaves it
	 * open. Use it for a lock that is not held by a block of code.
	 * @param lease the held lock
	 * @return the scope, to be closed by the same thread
	 */
	public static Scope openUnordered(LockLease lease) {
		Scope scope = new Scope(lease, innermost(), Kind.UNORDERED);
		SCOPES.set(scope);
		return scope;
	}

	/**
	 * Opens a scope around those of all calls that run on this thread: it outlasts the
	 * call that opens it, as a transaction does that has begun before. Any thread may
	 * close it.
	 * @param lease the held lock
	 * @return the scope
	 */
	public static Scope openOutermost(LockLease lease) {
		Scope innerOne = null;
		Scope outerOne = innermost();
		while (outerOne != null && outerOne.kind != Kind.OUTERMOST) {
			outerOne.leases = null;
			innerOne = outerOne;
			outerOne = outerOne.outer;
		}
		Scope scope = new Scope(lease, outerOne, Kind.OUTERMOST);
		if (innerOne != null) {
			innerOne.outer = scope;
		}
		else {
			SCOPES.set(scope);
		}
		return scope;
	}

	/** How a scope relates to those around it. */
	private enum Kind {

		/** It ends with each scope around it. */
		NESTED,
		/** It ends by itself, on its thread. */
		UNORDERED,
		/** It is around the scopes of all calls. */
		OUTERMOST

	}

	/** The extent of a thread's work under a lock. Closing it releases nothing. */
	public static final class Scope implements AutoCloseable {

		private final LockLease lease;

		private final Kind kind;

		private @Nullable Scope outer;

		/** All leases from this scope outwards, kept for nested requests. */
		private @Nullable List<LockLease> leases;

		/** Closed by the thread of the scope, and then {@code null}. */
		private @Nullable ObserverScope observers;

		private boolean lossIgnored;

		private volatile boolean closed;

		private Scope(LockLease lease, @Nullable Scope outer, Kind kind) {
			this.lease = lease;
			this.outer = outer;
			this.kind = kind;
		}

		private void ensureNotLost(Duration margin) {
			if (this.lease.lossReason() != null) {
				this.lease.ensureHeld();
			}
			if (!margin.isZero() && this.lease.isHeld()) {
				Duration remaining = this.lease.remaining();
				if (remaining.compareTo(margin) < 0) {
					throw new LockLostException(this.lease.keys().get(0), remaining, margin);
				}
			}
		}

		private List<LockLease> leases() {
			List<LockLease> known = this.leases;
			if (known == null) {
				known = new ArrayList<>();
				for (Scope scope = this; scope != null; scope = scope.outer) {
					known.add(scope.lease);
				}
				known = List.copyOf(known);
				this.leases = known;
			}
			return known;
		}

		/**
		 * Lets work below this scope be made final although the lock was lost: from now
		 * on its loss is no obstacle to {@link LockContext#ensureNoneLost()}. Holds for
		 * the scopes of the same handle around this one too. An
		 * {@linkplain LockContext#openOutermost outermost} one of them heeds the loss
		 * again after a scope for one of its keys, inside it, has not ignored the loss.
		 */
		public void ignoreLoss() {
			for (Scope scope = this; scope != null; scope = scope.outer) {
				if (scope.lease == this.lease) {
					scope.lossIgnored = true;
				}
			}
		}

		/**
		 * Closes the scope, and scopes inside it that were left open, unless it is
		 * {@linkplain LockContext#openOutermost outermost} or
		 * {@linkplain LockContext#openUnordered unordered}. Closing it again changes
		 * nothing.
		 * @throws IllegalStateException if another thread opened the scope, and it is not
		 * outermost
		 */
		@Override
		public void close() {
			if (this.closed) {
				return;
			}
			if (this.kind == Kind.OUTERMOST) {
				this.closed = true;
				innermost();
				return;
			}
			requireOpenHere();
			if (!this.lossIgnored) {
				heedLossAround();
			}
			try {
				closeObserversFrom((this.kind == Kind.NESTED) ? SCOPES.get() : null);
			}
			finally {
				if (this.kind == Kind.NESTED && closeNestedInside()) {
					set(this.outer);
				}
				else {
					this.closed = true;
					removeClosed();
				}
			}
		}

		/** The engine's observers do not fail; those of another handle may. */
		private void closeObserversFrom(@Nullable Scope scope) {
			if (scope != null) {
				ObserverScope opened = scope.observers;
				scope.observers = null;
				try {
					if (opened != null) {
						opened.close();
					}
				}
				finally {
					closeObserversFrom((scope != this) ? scope.outer : null);
				}
			}
		}

		/** Returns whether nothing inside this scope, and not it itself, stays open. */
		private boolean closeNestedInside() {
			boolean all = true;
			for (Scope scope = SCOPES.get(); !this.closed && scope != null; scope = scope.outer) {
				scope.closed = scope.closed || scope.kind == Kind.NESTED;
				all &= scope.closed;
			}
			return all;
		}

		/**
		 * Work that is not indifferent to the loss was done in what an outermost scope
		 * lasts for.
		 */
		private void heedLossAround() {
			for (Scope scope = this.outer; scope != null; scope = scope.outer) {
				if (scope.kind == Kind.OUTERMOST && scope.lossIgnored
						&& !Collections.disjoint(scope.lease.keys(), this.lease.keys())) {
					scope.lossIgnored = false;
				}
			}
		}

		private void requireOpenHere() {
			for (Scope scope = SCOPES.get(); scope != null; scope = scope.outer) {
				if (scope == this) {
					return;
				}
			}
			throw new IllegalStateException("The scope of lock '" + this.lease.keys().get(0)
					+ "' was opened by another thread. Close it on the thread that opened it");
		}

	}

}
