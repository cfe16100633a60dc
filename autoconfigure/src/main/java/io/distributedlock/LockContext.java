package io.distributedlock;

import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * The locks that the current thread runs under: what {@link LockOperations#execute} and
 * annotated methods hold around their bodies. A nested request joins what it finds here.
 * Belongs to the thread while the body runs in it, and is empty again when it has left.
 *
 * @since 0.1.0
 */
public final class LockContext {

	private static final ThreadLocal<Scope> SCOPES = new ThreadLocal<>();

	private LockContext() {
	}

	/**
	 * The innermost lock that this thread runs under.
	 * @return the handle
	 * @throws IllegalStateException if it runs under none
	 */
	public static LockLease current() {
		return find().orElseThrow(() -> new IllegalStateException(
				"No lock is held around this call: it does not run inside LockOperations.execute or a @DistributedLock method"
						+ " (called through its proxy)"));
	}

	/**
	 * The innermost lock that this thread runs under, if any.
	 * @return the handle, or empty
	 */
	public static Optional<LockLease> find() {
		Scope scope = SCOPES.get();
		return (scope != null) ? Optional.of(scope.lease) : Optional.empty();
	}

	/**
	 * The innermost lock on the given key that this thread runs under.
	 * @param source whose lock it must be, as given to {@link #open}
	 * @param key the key
	 * @return the handle, or {@code null} if there is none
	 */
	public static @Nullable LockLease find(Object source, LockKey key) {
		for (Scope scope = SCOPES.get(); scope != null; scope = scope.outer) {
			if (scope.source == source && scope.lease.keys().contains(key)) {
				return scope.lease;
			}
		}
		return null;
	}

	/**
	 * Checks that nothing this thread runs under was lost, except what it
	 * {@link #ignoreLoss() ignores}: to be asked before work is made final.
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
	 * From now on the loss of the innermost lock is no obstacle to
	 * {@link #ensureNoneLost} in its scope.
	 * @throws IllegalStateException if the thread runs under no lock
	 */
	public static void ignoreLoss() {
		Scope scope = SCOPES.get();
		if (scope == null) {
			throw new IllegalStateException("No lock is held around this call whose loss could be ignored");
		}
		scope.lossIgnored = true;
	}

	/**
	 * Opens a scope on this thread, for the engine and those who integrate with it.
	 * @param source whose lock it is; only the same source joins it
	 * @param lease the held lock
	 * @return the scope, to be closed by the same thread before any scope around it
	 */
	public static Scope open(Object source, LockLease lease) {
		Scope scope = new Scope(source, lease, SCOPES.get());
		SCOPES.set(scope);
		return scope;
	}

	/** The extent of a thread's work under a lock. Closing it releases nothing. */
	public static final class Scope implements AutoCloseable {

		private final Object source;

		private final LockLease lease;

		private final @Nullable Scope outer;

		private boolean lossIgnored;

		private Scope(Object source, LockLease lease, @Nullable Scope outer) {
			this.source = source;
			this.lease = lease;
			this.outer = outer;
		}

		@Override
		public void close() {
			if (this.outer != null) {
				SCOPES.set(this.outer);
			}
			else {
				SCOPES.remove();
			}
		}

	}

}
