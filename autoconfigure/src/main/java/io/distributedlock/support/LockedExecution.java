package io.distributedlock.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockCallback;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockRequest;

/**
 * Execution of bodies under locks. Keys that enclosing calls hold are joined, others are
 * acquired. A lock that is acquired inside a transaction is kept until that has
 * completed. Safe for use by many threads.
 */
final class LockedExecution {

	private final EngineContext engine;

	private final RequestFactory requests;

	private final TransactionScope transaction;

	LockedExecution(EngineContext engine, RequestFactory requests, EnclosingTransaction transaction) {
		this.engine = engine;
		this.requests = requests;
		this.transaction = new TransactionScope(transaction);
	}

	/** Acquires a request on the calling thread. */
	LockLease acquire(LockRequest request) {
		return acquire(request, request.keys());
	}

	private JoinableLease acquire(LockRequest request, List<LockKey> keys) {
		return acquire(request, keys, WaitMode.LIMITED);
	}

	private JoinableLease acquire(LockRequest request, List<LockKey> keys, WaitMode mode) {
		long start = this.engine.nanoTime();
		BlockingDriver driver = new BlockingDriver(this.engine.environment(), mode);
		Acquisition acquisition = this.requests.request(keys, request, driver);
		if (!driver.drive(acquisition)) {
			throw new LockNotAcquiredException(acquisition.key(), Duration.ofNanos(this.engine.nanoTime() - start),
					acquisition.holder());
		}
		return acquisition.lease();
	}

	<T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LockCallback<T, E> body) throws E {
		List<LockLease> enclosing = LockContext.findAll();
		if (request.keys().size() == 1) {
			JoinableLease outer = enclosing.isEmpty() ? null : outer(request.keys().get(0), enclosing);
			return (outer != null) ? run(new JoinedLease(request.keys().get(0), outer), body)
					: run(keepInTransaction(requireHeld(acquire(request, request.keys()))), body);
		}
		Parts parts = parts(request, enclosing);
		if (parts.missing().isEmpty()) {
			return run(composite(request, List.of(), parts.joined()), body);
		}
		JoinableLease own = requireHeld(acquire(request, parts.missing()));
		JoinableLease all = parts.joined().isEmpty() ? own : joinedWith(own, parts.joined(), request);
		return run(keepInTransaction(all), body);
	}

	<T extends @Nullable Object, E extends Throwable> @Nullable CompletableFuture<T> executeAsync(LockRequest request,
			LockCallback<? extends @Nullable CompletionStage<T>, E> body) throws E {
		JoinableLease lease = acquireKept(request, WaitMode.LIMITED);
		CompletionStage<T> stage;
		try (LockContext.Scope scope = LockContext.open(lease)) {
			stage = body.doWithLock(lease);
		}
		catch (Throwable ex) {
			closeAfter(ex, lease);
			throw ex;
		}
		if (stage == null) {
			lease.close();
			lease.throwLoss(LockError.LOST);
			return null;
		}
		return LockedStage.end(stage, lease);
	}

	/**
	 * Acquires a request for work that may last longer than the enclosing calls, whose
	 * locks are kept. The scope is the caller's.
	 */
	JoinableLease acquireKept(LockRequest request, WaitMode mode) {
		Parts parts = parts(request, LockContext.findAll());
		List<JoinableLease> kept = keep(parts.joined());
		try {
			return parts.missing().isEmpty() ? composite(request, kept, List.of())
					: keepInTransaction(acquireBeside(kept, parts.missing(), request, mode));
		}
		catch (RuntimeException | Error ex) {
			MultiKeyLease.closeAll(kept, JoinableLease::closeInBackground);
			throw ex;
		}
	}

	private JoinableLease acquireBeside(List<JoinableLease> kept, List<LockKey> missing, LockRequest request,
			WaitMode mode) {
		JoinableLease own = requireHeld(acquire(request, missing, mode));
		try {
			return beside(own, kept, request);
		}
		catch (RuntimeException | Error ex) {
			closeAfter(ex, own);
			throw ex;
		}
	}

	/** Combines locks, and checks once more those that were joined before. */
	private JoinableLease beside(JoinableLease own, List<JoinableLease> kept, LockRequest request) {
		if (kept.isEmpty()) {
			return own;
		}
		requireHeld(kept);
		List<JoinableLease> all = new ArrayList<>(kept.size() + 1);
		all.add(own);
		all.addAll(kept);
		return composite(request, all, List.of());
	}

	/**
	 * Acquires without a waiting thread, and keeps the enclosing locks that have the
	 * other keys.
	 */
	CompletableFuture<LockLease> acquireAsync(LockRequest request, List<LockLease> enclosing) {
		Parts parts;
		List<JoinableLease> kept;
		try {
			parts = parts(request, enclosing);
			kept = keep(parts.joined());
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
		try {
			if (parts.missing().isEmpty()) {
				return CompletableFuture.completedFuture(composite(request, kept, List.of()));
			}
			CompletableFuture<LockLease> acquired = new AsyncDriver(this.engine,
					(driver) -> this.requests.request(parts.missing(), request, driver))
				.begin();
			return kept.isEmpty() ? acquired : joinLater(acquired, kept, request);
		}
		catch (RuntimeException | Error ex) {
			MultiKeyLease.closeAll(kept, JoinableLease::closeInBackground);
			throw ex;
		}
	}

	private CompletableFuture<LockLease> joinLater(CompletableFuture<LockLease> acquired, List<JoinableLease> kept,
			LockRequest request) {
		CompletableFuture<LockLease> joined = new CompletableFuture<>();
		acquired.whenComplete((own, failure) -> {
			try {
				if (own == null) {
					throw failure;
				}
				LockLease all = beside((JoinableLease) own, kept, request);
				if (!joined.complete(all)) {
					all.closeAsync();
				}
			}
			catch (Throwable ex) {
				if (own != null) {
					own.closeAsync();
				}
				MultiKeyLease.closeAll(kept, JoinableLease::closeInBackground);
				joined.completeExceptionally(ex);
			}
		});
		joined.whenComplete((lease, failure) -> acquired.cancel(false));
		return joined;
	}

	/** Divides the keys of a request into those that are held and those that are not. */
	private Parts parts(LockRequest request, List<LockLease> enclosing) {
		if (enclosing.isEmpty()) {
			return new Parts(request.keys(), List.of());
		}
		List<LockKey> missing = new ArrayList<>(request.keys().size());
		List<JoinableLease> joined = new ArrayList<>(0);
		for (LockKey key : request.keys()) {
			JoinableLease outer = outer(key, enclosing);
			if (outer == null) {
				missing.add(key);
			}
			else if (!joined.contains(outer)) {
				joined.add(outer);
			}
		}
		return new Parts(missing, joined);
	}

	/**
	 * Keeps locks, each of which is held.
	 * @throws LockLostException if one of them has ended meanwhile
	 */
	private static List<JoinableLease> keep(List<JoinableLease> joined) {
		List<JoinableLease> kept = MultiKeyLease.keepAll(joined);
		if (kept == null) {
			requireHeld(joined);
			throw new IllegalStateException("A lock was released while it was joined");
		}
		return kept;
	}

	private static void requireHeld(List<JoinableLease> joined) {
		for (JoinableLease part : joined) {
			part.throwLoss(LockError.REENTRY_AFTER_LOSS);
			part.ensureHeld();
		}
	}

	/**
	 * Combines the own locks with those joined before, all checked once more: the body
	 * must not start under a lost lock. Whatever fails, the own locks are released.
	 */
	private JoinableLease joinedWith(JoinableLease own, List<JoinableLease> joined, LockRequest request) {
		try {
			requireHeld(joined);
			own.throwLoss(LockError.LOST_WHILE_ACQUIRING);
			own.ensureHeld();
			return composite(request, List.of(own), joined);
		}
		catch (RuntimeException | Error ex) {
			closeAfter(ex, own);
			throw ex;
		}
	}

	private JoinableLease composite(LockRequest request, List<JoinableLease> owned, List<JoinableLease> joined) {
		return new MultiKeyLease(request.keys(), owned, joined, this.engine.heldGrants());
	}

	/** Returns the enclosing lock that has a key, if it can be joined. */
	private @Nullable JoinableLease outer(LockKey key, List<LockLease> enclosing) {
		HeldGrants heldGrants = this.engine.heldGrants();
		// Without an iterator, since this is most of what a nested call does.
		for (int i = 0; i < enclosing.size(); i++) {
			LockLease outer = enclosing.get(i);
			if (outer instanceof JoinableLease joinable && joinable.isOf(heldGrants) && joinable.covers(key)) {
				if (joinable.isHeld()) {
					return joinable;
				}
				joinable.throwLoss(LockError.REENTRY_AFTER_LOSS);
			}
		}
		return null;
	}

	/**
	 * Checks a lock that was acquired: the body must not start under one that was lost
	 * between its grant and now. Of several keys the others are released.
	 */
	private static JoinableLease requireHeld(JoinableLease own) {
		if (!own.isHeld()) {
			try {
				own.throwLoss(LockError.LOST_WHILE_ACQUIRING);
			}
			catch (LockLostException ex) {
				closeAfter(ex, own);
				throw ex;
			}
		}
		return own;
	}

	/** Keeps a lock until the transaction that is running has completed. */
	private JoinableLease keepInTransaction(JoinableLease lease) {
		try {
			this.transaction.keep(lease);
			return lease;
		}
		catch (RuntimeException | Error ex) {
			closeAfter(ex, lease);
			throw ex;
		}
	}

	/** Closes what {@link #acquireKept} has acquired, after its scope was closed. */
	void closeKept(JoinableLease lease) {
		this.transaction.close(lease);
	}

	private static <T extends @Nullable Object, E extends Throwable> T run(JoinableLease lease, LockCallback<T, E> body)
			throws E {
		T result;
		try (LockContext.Scope scope = LockContext.open(lease)) {
			result = body.doWithLock(lease);
		}
		catch (Throwable ex) {
			closeAfter(ex, lease);
			throw ex;
		}
		lease.close();
		lease.throwLoss(LockError.LOST);
		return result;
	}

	private static void closeAfter(Throwable ex, JoinableLease lease) {
		try {
			lease.close();
		}
		catch (RuntimeException | Error failure) {
			ex.addSuppressed(failure);
		}
		lease.addLossTo(ex);
	}

	/**
	 * The keys of a request that have to be acquired, and the locks that have the others.
	 */
	private record Parts(List<LockKey> missing, List<JoinableLease> joined) {
	}

}
