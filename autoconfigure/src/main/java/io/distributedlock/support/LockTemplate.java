package io.distributedlock.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockCallback;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockListener;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.LockSnapshot;
import io.distributedlock.LossReason;
import io.distributedlock.provider.LockObserver;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;

/**
 * The engine behind {@link LockOperations}, over any {@link LockProvider}: annotated
 * methods and programs share it.
 * <p>
 * Waiting requests of one process queue locally, and only the first of them attempts in
 * the store. Held locks are renewed in batches, and a loss is reported at the local
 * deadline at the latest. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class LockTemplate implements LockOperations, AutoCloseable {

	private final LockProvider provider;

	private final LockSettings settings;

	private final LockTimer timer;

	private final CallbackThreads callbacks;

	private final boolean ownCallbacks;

	private final List<LockObserver> observers;

	private final List<LockListener> listeners;

	private final ReentrantLock startLock = new ReentrantLock();

	private volatile ThreadedEnvironment environment;

	private volatile LockEngine engine;

	private final BiConsumer<LockKey, OwnerId> forcedReleases;

	/**
	 * Creates a template, which is started. Its threads start when they are needed.
	 * @param provider the store
	 * @param settings the defaults and bounds
	 * @param timer the timer, which may be shared and is not closed by the template
	 * @param observers the observers, called on the threads that work
	 * @param listeners the listeners, called on threads of their own
	 */
	public LockTemplate(LockProvider provider, LockSettings settings, LockTimer timer, List<LockObserver> observers,
			List<LockListener> listeners) {
		this(provider, settings, timer, new CallbackThreads(timer), true, observers, listeners);
	}

	/**
	 * Creates a template that shares its callback threads with others.
	 * @param provider the store
	 * @param settings the defaults and bounds
	 * @param timer the timer, which may be shared and is not closed by the template
	 * @param callbacks the threads for callbacks, which are not closed by the template
	 * @param observers the observers, called on the threads that work
	 * @param listeners the listeners, called on the callback threads
	 */
	public LockTemplate(LockProvider provider, LockSettings settings, LockTimer timer, CallbackThreads callbacks,
			List<LockObserver> observers, List<LockListener> listeners) {
		this(provider, settings, timer, callbacks, false, observers, listeners);
	}

	private LockTemplate(LockProvider provider, LockSettings settings, LockTimer timer, CallbackThreads callbacks,
			boolean ownCallbacks, List<LockObserver> observers, List<LockListener> listeners) {
		this.provider = provider;
		this.settings = settings;
		this.timer = timer;
		this.callbacks = callbacks;
		this.ownCallbacks = ownCallbacks;
		this.observers = List.copyOf(observers);
		this.listeners = List.copyOf(listeners);
		this.environment = newEnvironment();
		this.engine = newEngine(this.environment);
		this.forcedReleases = (key, owner) -> this.engine.context().heldGrants().forceRelease(key, owner);
		provider.addForcedReleaseHandler(this.forcedReleases);
	}

	private ThreadedEnvironment newEnvironment() {
		return new ThreadedEnvironment(this.provider.name(), this.timer, this.callbacks);
	}

	private LockEngine newEngine(ThreadedEnvironment present) {
		return new LockEngine(this.provider, this.settings, present,
				new LockEventPublisher(present, this.observers, this.listeners), present::close);
	}

	@Override
	public @Nullable LockLease tryAcquire(LockRequest request) {
		LockEngine present = this.engine;
		BlockingDriver driver = new BlockingDriver(present.context().environment());
		Acquisition acquisition = present.request(request.keys(), request, driver);
		return driver.drive(acquisition) ? acquisition.lease() : null;
	}

	@Override
	public LockLease acquire(LockRequest request) {
		return acquire(request, request.keys());
	}

	private JoinableLease acquire(LockRequest request, List<LockKey> keys) {
		LockEngine present = this.engine;
		long start = present.context().nanoTime();
		BlockingDriver driver = new BlockingDriver(present.context().environment());
		Acquisition acquisition = present.request(keys, request, driver);
		if (!driver.drive(acquisition)) {
			throw new LockNotAcquiredException(acquisition.key(),
					Duration.ofNanos(present.context().nanoTime() - start), acquisition.holder());
		}
		return acquisition.lease();
	}

	@Override
	public CompletableFuture<LockLease> acquireAsync(LockRequest request) {
		LockEngine present = this.engine;
		return new AsyncDriver(present.context(), (driver) -> present.request(request.keys(), request, driver)).begin();
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LockCallback<T, E> body)
			throws E {
		if (request.keys().size() == 1) {
			JoinableLease outer = outer(request.keys().get(0));
			return (outer != null) ? run(new JoinedLease(request.keys().get(0), outer), body)
					: runOwn(acquire(request, request.keys()), body);
		}
		List<LockKey> missing = new ArrayList<>(request.keys().size());
		List<JoinableLease> joined = new ArrayList<>(0);
		for (LockKey key : request.keys()) {
			JoinableLease outer = outer(key);
			if (outer == null) {
				missing.add(key);
			}
			else if (!joined.contains(outer)) {
				joined.add(outer);
			}
		}
		if (missing.isEmpty()) {
			return run(composite(request, List.of(), joined), body);
		}
		JoinableLease own = acquire(request, missing);
		if (joined.isEmpty()) {
			return runOwn(own, body);
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
		return new MultiKeyLease(request.keys(), owned, joined, this.engine.context().heldGrants());
	}

	/** Returns the lock that this thread already runs under, if it can be joined. */
	private @Nullable JoinableLease outer(LockKey key) {
		HeldGrants heldGrants = this.engine.context().heldGrants();
		List<LockLease> outers = LockContext.findAll();
		// Without an iterator, since this is most of what a nested call does.
		for (int i = 0; i < outers.size(); i++) {
			LockLease outer = outers.get(i);
			if (outer instanceof JoinableLease joinable && joinable.isOf(heldGrants) && joinable.covers(key)) {
				if (joinable.isHeld()) {
					return joinable;
				}
				joinable.throwLoss(LockError.REENTRY_AFTER_LOSS);
				return null;
			}
		}
		return null;
	}

	/** The body must not start under a lock that was lost between its grant and now. */
	private <T extends @Nullable Object, E extends Throwable> T runOwn(JoinableLease own, LockCallback<T, E> body)
			throws E {
		if (!own.isHeld()) {
			own.throwLoss(LockError.LOST_WHILE_ACQUIRING);
		}
		return run(own, body);
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
	 * Starts the template: it grants locks again if it was stopped. Draws new random
	 * numbers in any case, because a restored image of a process may be one of many.
	 */
	public void start() {
		this.startLock.lock();
		try {
			if (this.engine.isStopping()) {
				this.environment = newEnvironment();
				this.engine = newEngine(this.environment);
			}
			else {
				this.environment.drawOwnerIds();
			}
		}
		finally {
			this.startLock.unlock();
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
		this.provider.removeForcedReleaseHandler(this.forcedReleases);
		if (this.ownCallbacks) {
			this.callbacks.close();
		}
	}

	/**
	 * Returns what this process holds and waits for through this template.
	 * @return the locks and requests, in no order; no atomic view: a lock that changes
	 * hands meanwhile may appear twice or not at all
	 */
	public LockSnapshot snapshot() {
		return this.engine.snapshot();
	}

	/**
	 * Takes a lock away from its holder in this process: ends the hold at once, and
	 * releases the lock in the background. When this method returns, the store may still
	 * keep the lock, at most until the end of its lease. The loss is reported with
	 * {@link LossReason#FORCED}; the holder may still be working, and only a fenced
	 * resource is protected from it.
	 * @param key the key
	 * @return whether this process held the lock through this template
	 */
	public boolean forceRelease(LockKey key) {
		return this.engine.context().heldGrants().forceRelease(key);
	}

}
