package io.distributedlock.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockCallback;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockInterruptedException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockListener;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.provider.LockObserver;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;

/**
 * The engine behind {@link LockOperations}, over any {@link LockProvider}: annotated
 * methods and programs share it.
 * <p>
 * Waiting requests of one process queue locally, and only the first of them attempts in
 * the store. Held locks are renewed in batches on one thread, and a loss is reported at
 * the local deadline at the latest. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class LockTemplate implements LockOperations, AutoCloseable {

	private final LockEngine engine;

	/**
	 * Creates a template. Its threads start when they are needed.
	 * @param provider the store
	 * @param settings the defaults and bounds
	 * @param timer the timer, which may be shared and is not closed by the template
	 * @param observers the observers, called on the threads that work
	 * @param listeners the listeners, called on threads of their own
	 */
	public LockTemplate(LockProvider provider, LockSettings settings, LockTimer timer, List<LockObserver> observers,
			List<LockListener> listeners) {
		this.engine = new LockEngine(provider, settings, timer,
				new LockEventPublisher(provider.name(), observers, listeners));
	}

	@Override
	public @Nullable LockLease tryAcquire(LockRequest request) {
		ThreadWaiter waiter = new ThreadWaiter();
		Acquisition acquisition = acquisition(request.keys(), LockTerms.of(request, this.engine.settings()), waiter);
		return drive(acquisition, waiter) ? acquisition.lease() : null;
	}

	@Override
	public LockLease acquire(LockRequest request) {
		return acquire(request, request.keys());
	}

	private JoinableLease acquire(LockRequest request, List<LockKey> keys) {
		long start = System.nanoTime();
		ThreadWaiter waiter = new ThreadWaiter();
		Acquisition acquisition = acquisition(keys, LockTerms.of(request, this.engine.settings()), waiter);
		if (!drive(acquisition, waiter)) {
			throw new LockNotAcquiredException(acquisition.key(), Duration.ofNanos(System.nanoTime() - start),
					acquisition.holder());
		}
		return acquisition.lease();
	}

	@Override
	public CompletableFuture<LockLease> acquireAsync(LockRequest request) {
		LockTerms terms = LockTerms.of(request, this.engine.settings());
		return new AsyncWaiter(this.engine, (waiter) -> acquisition(request.keys(), terms, waiter)).begin();
	}

	private Acquisition acquisition(List<LockKey> keys, LockTerms terms, Waiter waiter) {
		WaitBudget budget = WaitBudget.of(terms, this.engine.settings().callTimeout());
		return (keys.size() == 1) ? new SingleAcquisition(this.engine, keys.get(0), terms, budget, waiter, true)
				: new MultiAcquisition(this.engine, keys, terms, budget, waiter);
	}

	/** Drives an acquisition on the calling thread, which parks between steps. */
	private boolean drive(Acquisition acquisition, ThreadWaiter waiter) {
		while (true) {
			if (Thread.currentThread().isInterrupted()) {
				acquisition.abandon();
				throw new LockInterruptedException(acquisition.key());
			}
			Acquisition.Progress progress;
			try {
				progress = acquisition.step();
			}
			catch (LockProviderException ex) {
				if (Thread.currentThread().isInterrupted()) {
					LockInterruptedException interrupted = new LockInterruptedException(acquisition.key());
					interrupted.addSuppressed(ex);
					throw interrupted;
				}
				throw ex;
			}
			catch (RuntimeException | Error ex) {
				acquisition.abandon();
				throw ex;
			}
			if (progress != Acquisition.Progress.WAIT) {
				return progress == Acquisition.Progress.ACQUIRED;
			}
			waiter.await(acquisition.waitUntilNanos());
		}
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LockCallback<T, E> body)
			throws E {
		List<LockKey> missing = new ArrayList<>(request.keys().size());
		List<JoinableLease> joined = new ArrayList<>(0);
		for (LockKey key : request.keys()) {
			JoinableLease outer = outer(key);
			if (outer == null) {
				missing.add(key);
			}
			else {
				joined.add(outer);
			}
		}
		if (missing.isEmpty()) {
			return run(composite(request, List.of(), joined), body);
		}
		JoinableLease own = acquire(request, missing);
		if (joined.isEmpty()) {
			return run(own, body);
		}
		return run(joinedWith(own, joined, request), body);
	}

	/**
	 * Combines the own locks with those joined before, all checked once more: the body
	 * must not start under a lost lock. Whatever fails, the own locks are released.
	 */
	private JoinableLease joinedWith(JoinableLease own, List<JoinableLease> joined, LockRequest request) {
		try {
			for (JoinableLease part : joined) {
				part.throwLoss(LockError.REENTRY_AFTER_LOSS);
				part.ensureHeld();
			}
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
		return new MultiKeyLease(request.keys(), owned, joined.stream().distinct().toList(),
				this.engine.settings().callTimeout());
	}

	/** Returns the lock that this thread already runs under, if it can be joined. */
	private @Nullable JoinableLease outer(LockKey key) {
		for (LockLease outer : LockContext.findAll()) {
			if (outer instanceof JoinableLease joinable && joinable.isOf(this.engine) && outer.keys().contains(key)) {
				joinable.throwLoss(LockError.REENTRY_AFTER_LOSS);
				return joinable.isHeld() ? joinable : null;
			}
		}
		return null;
	}

	private <T extends @Nullable Object, E extends Throwable> T run(JoinableLease lease, LockCallback<T, E> body)
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
		if (lease.lossReason() != null && !(ex instanceof LockLostException)) {
			try {
				lease.throwLoss(LockError.LOST);
			}
			catch (LockLostException loss) {
				ex.addSuppressed(loss);
			}
		}
	}

	/**
	 * Stops the template. From now on no lock is granted, and waiting requests fail with
	 * {@link LockError#SHUTTING_DOWN}. Held locks are renewed while their bodies finish
	 * within the grace period. No lock is released under a running body: its lease runs
	 * out.
	 * @param grace how long to wait for running bodies
	 */
	public void stop(Duration grace) {
		this.engine.stop(grace);
	}

	/** Stops without a grace period. */
	@Override
	public void close() {
		stop(Duration.ZERO);
	}

}
