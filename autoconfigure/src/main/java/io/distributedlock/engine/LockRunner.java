package io.distributedlock.engine;

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
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.EngineLease;
import io.distributedlock.engine.queue.CallbackRunner;
import io.distributedlock.engine.queue.EngineContext;
import io.distributedlock.engine.queue.ParkingRunner;
import io.distributedlock.engine.queue.RequestCheck;
import io.distributedlock.engine.queue.RunningRequest;
import io.distributedlock.engine.queue.WaitMode;

/**
 * Execution of bodies under locks. Keys that enclosing calls hold are joined, others are
 * acquired. A lock that is acquired inside a transaction is kept until that has
 * completed. Safe for use by many threads.
 */
final class LockRunner {

	private final EngineContext engine;

	private final RequestFactory requests;

	private final TransactionScope transaction;

	private final NestedOrderWarning nestedOrder;

	LockRunner(EngineContext engine, RequestFactory requests, EnclosingTransaction transaction) {
		this.engine = engine;
		this.requests = requests;
		this.transaction = new TransactionScope(transaction, engine.heldGrants());
		this.nestedOrder = new NestedOrderWarning(engine.heldGrants(), engine.settings().waitTime());
	}

	/** Acquires a request on the calling thread. */
	LockLease acquire(LockRequest request) {
		return acquire(request, request.keys(), LockContext.findAll(), WaitMode.LIMITED);
	}

	/**
	 * Acquires a request on the calling thread, unless its lock is busy. Waits only for a
	 * wait time of the request's own.
	 */
	@Nullable LockLease tryAcquire(LockRequest request) {
		LockRequest terms = (request.waitTime() != null) ? request : request.withWaitTime(Duration.ZERO);
		this.nestedOrder.check(terms.keys(), terms, LockContext.findAll(), false);
		ParkingRunner runner = new ParkingRunner(this.engine.environment(), WaitMode.LIMITED);
		RunningRequest acquisition = this.requests.request(terms.keys(), terms, runner);
		return runner.drive(acquisition) ? acquisition.lease() : null;
	}

	private EngineLease acquire(LockRequest request, List<LockKey> keys, List<LockLease> enclosing, WaitMode mode) {
		this.nestedOrder.check(keys, request, enclosing, mode.isUnlimited());
		long start = this.engine.nanoTime();
		ParkingRunner runner = new ParkingRunner(this.engine.environment(), mode);
		RunningRequest acquisition = this.requests.request(keys, request, runner);
		if (!runner.drive(acquisition)) {
			throw new LockNotAcquiredException(acquisition.key(), Duration.ofNanos(this.engine.nanoTime() - start),
					acquisition.holder());
		}
		return acquisition.lease();
	}

	<T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LockCallback<T, E> body) throws E {
		List<LockLease> enclosing = LockContext.findAll();
		EngineLease lease = acquireMissing(request, join(request, enclosing), enclosing, WaitMode.LIMITED);
		T result = call(body, lease);
		closeHeld(lease);
		return result;
	}

	/**
	 * Joins the locks of the calls around a request that have some of its keys and are of
	 * the same engine.
	 * @return the handle, which releases nothing, or {@code null} if there are none
	 */
	private @Nullable EngineLease join(LockRequest request, List<LockLease> enclosing) {
		if (enclosing.isEmpty()) {
			return null;
		}
		if (request.keys().size() == 1) {
			EngineLease outer = outer(request.keys().get(0), request, enclosing);
			return (outer != null) ? outer.join() : null;
		}
		List<EngineLease> joined = new ArrayList<>();
		for (LockKey key : request.keys()) {
			EngineLease outer = outer(key, request, enclosing);
			if (outer != null) {
				joined.add(outer.join());
			}
		}
		return joined.isEmpty() ? null : EngineLease.of(joined);
	}

	/** Returns the enclosing lock that has a key, if it can be joined. */
	private @Nullable EngineLease outer(LockKey key, LockRequest request, List<LockLease> enclosing) {
		// Without an iterator, since this is most of what a nested call does.
		for (int i = 0; i < enclosing.size(); i++) {
			if (enclosing.get(i) instanceof EngineLease lease && lease.isOf(this.engine.heldGrants())) {
				EngineLease part = lease.part(key);
				if (part != null && isJoinable(lease, part)) {
					RequestCheck.requireKeptBy(part, request, this.engine);
					return part;
				}
			}
		}
		return null;
	}

	/**
	 * Whether a part is held. No further work begins under a handle that was lost; one
	 * that was closed may have a part that a transaction keeps.
	 */
	private static boolean isJoinable(EngineLease lease, EngineLease part) {
		if (lease.isHeld()) {
			return true;
		}
		lease.throwLoss(LockError.REENTRY_AFTER_LOSS);
		return part.isHeld();
	}

	private static List<LockKey> missing(LockRequest request, @Nullable EngineLease joined) {
		if (joined == null) {
			return request.keys();
		}
		return (request.keys().size() == 1) ? List.of()
				: request.keys().stream().filter((key) -> joined.part(key) == null).toList();
	}

	/**
	 * Acquires the keys that were not joined, and keeps all until the transaction that is
	 * running has completed. Whatever fails, nothing remains of what was acquired or kept
	 * for the request.
	 */
	private EngineLease acquireMissing(LockRequest request, @Nullable EngineLease joined, List<LockLease> enclosing,
			WaitMode mode) {
		EngineLease own = null;
		try {
			List<LockKey> missing = missing(request, joined);
			if (joined != null && missing.isEmpty()) {
				RequestCheck.prolong(joined, request, this.engine);
				return joined;
			}
			own = acquire(request, missing, enclosing, mode);
			EngineLease all = combine(own, joined, request);
			this.transaction.keep(all);
			return all;
		}
		catch (RuntimeException | Error ex) {
			if (own != null) {
				own.forgetMinHold();
				closeAfter(ex, own);
			}
			closeInBackground(joined);
			throw ex;
		}
	}

	/**
	 * Combines the own locks with those joined before, all checked once more: the body
	 * must not start under a lock that was lost between its grant and now.
	 */
	private EngineLease combine(EngineLease own, @Nullable EngineLease joined, LockRequest request) {
		own.ensureHeld(LockError.LOST_WHILE_ACQUIRING);
		if (joined == null) {
			return own;
		}
		joined.ensureHeld(LockError.REENTRY_AFTER_LOSS);
		RequestCheck.prolong(joined, request, this.engine);
		return EngineLease.of(List.of(own, joined));
	}

	<T extends @Nullable Object, E extends Throwable> @Nullable CompletableFuture<T> executeAsync(LockRequest request,
			LockCallback<? extends @Nullable CompletionStage<T>, E> body) throws E {
		EngineLease lease = acquireKept(request, WaitMode.LIMITED);
		CompletionStage<T> stage = call(body, lease);
		if (stage == null) {
			closeHeld(lease);
			return null;
		}
		return StageHold.end(stage, lease);
	}

	/**
	 * Acquires a request for work that may last longer than the enclosing calls, whose
	 * locks are kept. The scope is the caller's.
	 */
	EngineLease acquireKept(LockRequest request, WaitMode mode) {
		List<LockLease> enclosing = LockContext.findAll();
		return acquireMissing(request, keep(join(request, enclosing)), enclosing, mode);
	}

	/**
	 * Acquires without a waiting thread, and keeps the enclosing locks that have the
	 * other keys.
	 */
	CompletableFuture<LockLease> acquireAsync(LockRequest request, List<LockLease> enclosing) {
		EngineLease kept;
		try {
			RequestCheck.requirePossible(request, this.engine);
			kept = keep(join(request, enclosing));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
		try {
			List<LockKey> missing = missing(request, kept);
			if (kept != null && missing.isEmpty()) {
				RequestCheck.prolong(kept, request, this.engine);
				return CompletableFuture.completedFuture(kept);
			}
			this.nestedOrder.check(missing, request, enclosing, false);
			CompletableFuture<LockLease> acquired = new CallbackRunner(this.engine,
					(runner) -> this.requests.request(missing, request, runner))
				.begin();
			return (kept != null) ? joinLater(acquired, kept, request) : acquired;
		}
		catch (RuntimeException | Error ex) {
			closeInBackground(kept);
			throw ex;
		}
	}

	private CompletableFuture<LockLease> joinLater(CompletableFuture<LockLease> acquired, EngineLease kept,
			LockRequest request) {
		CompletableFuture<LockLease> joined = new CompletableFuture<>();
		acquired.whenComplete((lease, failure) -> {
			EngineLease own = (EngineLease) lease;
			try {
				if (own == null) {
					throw failure;
				}
				EngineLease all = combine(own, kept, request);
				if (!joined.complete(all)) {
					all.closeUnusedAsync();
				}
			}
			catch (Throwable ex) {
				if (own != null) {
					own.closeUnusedAsync();
				}
				kept.closeInBackground();
				joined.completeExceptionally(ex);
			}
		});
		joined.whenComplete((lease, failure) -> acquired.cancel(false));
		return joined;
	}

	/** Keeps the locks that a request has joined, if there are any. */
	private static @Nullable EngineLease keep(@Nullable EngineLease joined) {
		if (joined == null) {
			return null;
		}
		EngineLease kept = joined.keep();
		if (kept == null) {
			joined.ensureHeld(LockError.REENTRY_AFTER_LOSS);
			throw new IllegalStateException("Lock " + joined.keys() + " was released while it was joined");
		}
		return kept;
	}

	private static void closeInBackground(@Nullable EngineLease kept) {
		if (kept != null) {
			kept.closeInBackground();
		}
	}

	/**
	 * Refuses the shortest hold of a request for keys that a lock has already, if it
	 * cannot be kept; else lets the lock be kept as long.
	 */
	void joinMinHold(EngineLease held, LockRequest request) {
		RequestCheck.requireKeptBy(held, request, this.engine);
		RequestCheck.prolong(held, request, this.engine);
	}

	/** Closes what {@link #acquireKept} has acquired, after its scope was closed. */
	void closeKept(EngineLease lease) {
		this.transaction.close(lease);
	}

	private static <T extends @Nullable Object, E extends Throwable> T call(LockCallback<T, E> body, EngineLease lease)
			throws E {
		try (LockContext.Scope scope = LockContext.open(lease)) {
			return body.doWithLock(lease);
		}
		catch (Throwable ex) {
			closeAfter(ex, lease);
			throw ex;
		}
	}

	/** Closes a lock after its body, which must have had it until now. */
	private static void closeHeld(EngineLease lease) {
		lease.close();
		lease.throwLoss(LockError.LOST);
	}

	private static void closeAfter(Throwable ex, EngineLease lease) {
		try {
			lease.close();
		}
		catch (RuntimeException | Error failure) {
			ex.addSuppressed(failure);
		}
		lease.addLossTo(ex);
	}

}
