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
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.JoinableLease;
import io.distributedlock.engine.queue.CallbackRunner;
import io.distributedlock.engine.queue.EngineContext;
import io.distributedlock.engine.queue.MinHoldCheck;
import io.distributedlock.engine.queue.MultiKeyLease;
import io.distributedlock.engine.queue.ParkingRunner;
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

	private final EnclosingLocks enclosing;

	private final TransactionScope transaction;

	private final NestedOrderWarning nestedOrder;

	LockRunner(EngineContext engine, RequestFactory requests, EnclosingTransaction transaction) {
		this.engine = engine;
		this.requests = requests;
		this.enclosing = new EnclosingLocks(engine);
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

	private JoinableLease acquire(LockRequest request, List<LockKey> keys, List<LockLease> enclosing, WaitMode mode) {
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
		if (request.keys().size() == 1) {
			JoinableLease outer = enclosing.isEmpty() ? null
					: this.enclosing.outer(request.keys().get(0), enclosing, request);
			return (outer != null) ? run(joined(request, outer), body)
					: run(keepInTransaction(requireHeld(acquire(request, request.keys(), enclosing, WaitMode.LIMITED))),
							body);
		}
		EnclosingLocks.Parts parts = this.enclosing.parts(request, enclosing);
		if (parts.missing().isEmpty()) {
			return run(composite(request, List.of(), parts.joined()), body);
		}
		JoinableLease own = requireHeld(acquire(request, parts.missing(), enclosing, WaitMode.LIMITED));
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
		return StageHold.end(stage, lease);
	}

	/**
	 * Acquires a request for work that may last longer than the enclosing calls, whose
	 * locks are kept. The scope is the caller's.
	 */
	JoinableLease acquireKept(LockRequest request, WaitMode mode) {
		List<LockLease> enclosing = LockContext.findAll();
		EnclosingLocks.Parts parts = this.enclosing.parts(request, enclosing);
		List<JoinableLease> kept = EnclosingLocks.keep(parts.joined());
		try {
			return parts.missing().isEmpty() ? composite(request, kept, List.of())
					: keepInTransaction(acquireBeside(kept, parts.missing(), request, enclosing, mode));
		}
		catch (RuntimeException | Error ex) {
			MultiKeyLease.closeAll(kept, JoinableLease::closeInBackground);
			throw ex;
		}
	}

	private JoinableLease acquireBeside(List<JoinableLease> kept, List<LockKey> missing, LockRequest request,
			List<LockLease> enclosing, WaitMode mode) {
		JoinableLease own = requireHeld(acquire(request, missing, enclosing, mode));
		try {
			return beside(own, kept, request);
		}
		catch (RuntimeException | Error ex) {
			closeUnused(ex, own);
			throw ex;
		}
	}

	/** Combines locks, and checks once more those that were joined before. */
	private JoinableLease beside(JoinableLease own, List<JoinableLease> kept, LockRequest request) {
		if (kept.isEmpty()) {
			return own;
		}
		EnclosingLocks.requireHeld(kept);
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
		EnclosingLocks.Parts parts;
		List<JoinableLease> kept;
		try {
			parts = this.enclosing.parts(request, enclosing);
			kept = EnclosingLocks.keep(parts.joined());
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
		try {
			if (parts.missing().isEmpty()) {
				return CompletableFuture.completedFuture(composite(request, kept, List.of()));
			}
			this.nestedOrder.check(parts.missing(), request, enclosing, false);
			CompletableFuture<LockLease> acquired = new CallbackRunner(this.engine,
					(runner) -> this.requests.request(parts.missing(), request, runner))
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
		acquired.whenComplete((lease, failure) -> {
			JoinableLease own = (JoinableLease) lease;
			try {
				if (own == null) {
					throw failure;
				}
				LockLease all = beside(own, kept, request);
				if (!joined.complete(all)) {
					own.forgetMinHold();
					all.closeAsync();
				}
			}
			catch (Throwable ex) {
				if (own != null) {
					own.forgetMinHold();
					own.closeAsync();
				}
				MultiKeyLease.closeAll(kept, JoinableLease::closeInBackground);
				joined.completeExceptionally(ex);
			}
		});
		joined.whenComplete((lease, failure) -> acquired.cancel(false));
		return joined;
	}

	/**
	 * Combines the own locks with those joined before, all checked once more: the body
	 * must not start under a lost lock. Whatever fails, the own locks are released.
	 */
	private JoinableLease joinedWith(JoinableLease own, List<JoinableLease> joined, LockRequest request) {
		try {
			EnclosingLocks.requireHeld(joined);
			own.throwLoss(LockError.LOST_WHILE_ACQUIRING);
			own.ensureHeld();
			return composite(request, List.of(own), joined);
		}
		catch (RuntimeException | Error ex) {
			closeUnused(ex, own);
			throw ex;
		}
	}

	private JoinableLease joined(LockRequest request, JoinableLease outer) {
		MinHoldCheck.prolong(outer, request, this.engine);
		return new NestedLease(request.keys().get(0), outer);
	}

	private JoinableLease composite(LockRequest request, List<JoinableLease> owned, List<JoinableLease> joined) {
		MultiKeyLease all = new MultiKeyLease(request.keys(), owned, joined, this.engine.heldGrants());
		MinHoldCheck.prolong(all, request, this.engine);
		return all;
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
				closeUnused(ex, own);
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
			closeUnused(ex, lease);
			throw ex;
		}
	}

	/**
	 * Refuses the shortest hold of a request for keys that a lock has already, if it
	 * cannot be kept; else lets the lock be kept as long.
	 */
	void joinMinHold(JoinableLease held, LockRequest request) {
		MinHoldCheck.requirePossible(request, this.engine);
		for (LockKey key : request.keys()) {
			MinHoldCheck.requireKeptBy(held, key, request);
		}
		MinHoldCheck.prolong(held, request, this.engine);
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

	/** Releases a lock under which no work has begun. */
	private static void closeUnused(Throwable ex, JoinableLease lease) {
		lease.forgetMinHold();
		closeAfter(ex, lease);
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

}
