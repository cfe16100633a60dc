package io.distributedlock;

import java.util.ArrayList;
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
		Scope scope = SCOPES.get();
		return (scope != null) ? Optional.of(scope.lease) : Optional.empty();
	}

	/**
	 * Finds all locks that this thread runs under.
	 * @return the handles, the innermost first; empty if there are none
	 */
	public static List<LockLease> findAll() {
		Scope scope = SCOPES.get();
		return (scope != null) ? scope.leases() : List.of();
	}

	/**
	 * Checks that no lock of this thread was lost, except those whose loss is
	 * {@link Scope#ignoreLoss() ignored}. Call it before work is made final.
	 * @throws LockLostException if a lock was lost
	 */
	public static void ensureNoneLost() {
		for (Scope scope = SCOPES.get(); scope != null; scope = scope.outer) {
			if (!scope.lossIgnored && scope.lease.lossReason() != null) {
				scope.lease.ensureHeld();
			}
		}
	}

	/**
	 * Opens a scope on this thread: until it is closed, the thread runs under the lock,
	 * which {@link #current()} returns. {@link LockOperations#execute} does so around the
	 * body. Call it where a handle was acquired otherwise and the code below has to find
	 * it. A scope neither renews nor releases the lock.
	 * @param lease the held lock
	 * @return the scope, to be closed by the same thread before any scope around it
	 */
	public static Scope open(LockLease lease) {
		Scope scope = new Scope(lease, SCOPES.get());
		SCOPES.set(scope);
		return scope;
	}

	/** The extent of a thread's work under a lock. Closing it releases nothing. */
	public static final class Scope implements AutoCloseable {

		private final LockLease lease;

		private final @Nullable Scope outer;

		/** All leases from this scope outwards, kept for nested requests. */
		private @Nullable List<LockLease> leases;

		private boolean lossIgnored;

		private boolean closed;

		private Scope(LockLease lease, @Nullable Scope outer) {
			this.lease = lease;
			this.outer = outer;
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
		 * the scopes of the same handle directly around this one too.
		 */
		public void ignoreLoss() {
			for (Scope scope = this; scope != null && scope.lease == this.lease; scope = scope.outer) {
				scope.lossIgnored = true;
			}
		}

		/**
		 * Closes the scope, and scopes inside it that were left open. Closing it again
		 * changes nothing.
		 * @throws IllegalStateException if another thread opened the scope
		 */
		@Override
		public void close() {
			if (this.closed) {
				return;
			}
			requireOpenHere();
			for (Scope scope = SCOPES.get(); !this.closed && scope != null; scope = scope.outer) {
				scope.closed = true;
			}
			if (this.outer != null) {
				SCOPES.set(this.outer);
			}
			else {
				SCOPES.remove();
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
