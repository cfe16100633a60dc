package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockCallback;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockListener;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.LockSnapshot;
import io.distributedlock.LossReason;
import io.distributedlock.engine.concurrent.CallbackThreads;
import io.distributedlock.engine.concurrent.ThreadedEnvironment;
import io.distributedlock.engine.event.LockEventPublisher;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.engine.renewal.RenewalStatus;
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

	private final EnclosingTransaction transaction;

	private final ReentrantLock startLock = new ReentrantLock();

	private volatile ThreadedEnvironment environment;

	private volatile LockEngine engine;

	private final BiConsumer<LockKey, OwnerId> forcedReleases;

	/** What threads hold by {@link #asLock} views. */
	private final Map<ThreadBoundLock.HoldId, ThreadBoundLock.ThreadHold> threadHolds = new ConcurrentHashMap<>();

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
		this(provider, settings, timer, new CallbackThreads(timer), true, observers, listeners,
				EnclosingTransaction.NONE);
	}

	/**
	 * Creates a template that shares its callback threads with others, and whose locks
	 * outlast the transactions that they are acquired in.
	 * @param provider the store
	 * @param settings the defaults and bounds
	 * @param timer the timer, which may be shared and is not closed by the template
	 * @param callbacks the threads for callbacks, which are not closed by the template
	 * @param observers the observers, called on the threads that work
	 * @param listeners the listeners, called on the callback threads
	 * @param transaction the transaction of the calling thread
	 */
	public LockTemplate(LockProvider provider, LockSettings settings, LockTimer timer, CallbackThreads callbacks,
			List<LockObserver> observers, List<LockListener> listeners, EnclosingTransaction transaction) {
		this(provider, settings, timer, callbacks, false, observers, listeners, transaction);
	}

	private LockTemplate(LockProvider provider, LockSettings settings, LockTimer timer, CallbackThreads callbacks,
			boolean ownCallbacks, List<LockObserver> observers, List<LockListener> listeners,
			EnclosingTransaction transaction) {
		this.provider = provider;
		this.settings = settings;
		this.timer = timer;
		this.callbacks = callbacks;
		this.ownCallbacks = ownCallbacks;
		this.observers = List.copyOf(observers);
		this.listeners = List.copyOf(listeners);
		this.transaction = transaction;
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
				new LockEventPublisher(present, this.observers, this.listeners), this.transaction, present::close);
	}

	@Override
	public @Nullable LockLease tryAcquire(LockRequest request) {
		return this.engine.execution().tryAcquire(request);
	}

	@Override
	public LockLease acquire(LockRequest request) {
		return this.engine.execution().acquire(request);
	}

	@Override
	public CompletableFuture<LockLease> acquireAsync(LockRequest request, List<LockLease> enclosing) {
		return this.engine.execution().acquireAsync(request, enclosing);
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LockCallback<T, E> body)
			throws E {
		return this.engine.execution().execute(request, body);
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> @Nullable CompletableFuture<T> executeAsync(
			LockRequest request, LockCallback<? extends @Nullable CompletionStage<T>, E> body) throws E {
		return this.engine.execution().executeAsync(request, body);
	}

	@Override
	public Lock asLock(LockRequest request) {
		return new ThreadBoundLock(request, () -> this.engine.execution(), this.threadHolds);
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
	 * Begins to stop the template: it refuses requests from now on. A call of
	 * {@link #stop} has to follow.
	 */
	public void beginStop() {
		this.engine.beginStop();
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
	 * resource is protected from it. A shortest hold is kept all the same.
	 * @param key the key
	 * @return whether this process held the lock through this template
	 */
	public boolean forceRelease(LockKey key) {
		return this.engine.context().heldGrants().forceRelease(key);
	}

	/**
	 * Takes a lock away from its holder in this process, as
	 * {@link #forceRelease(LockKey)} does, if the hold still has a given token.
	 * @param key the key
	 * @param token the token of the hold
	 * @return {@code false}, and nothing happens, if this process does not hold the lock
	 * through this template with that token
	 */
	public boolean forceRelease(LockKey key, FencingToken token) {
		return this.engine.context().heldGrants().forceRelease(key, token);
	}

	/**
	 * Returns whether this process has an exclusive grant of a lock through this
	 * template, also while it is handed off or released.
	 * @param key the key
	 * @return {@code false} if no such grant is left in the store that this template
	 * knows of
	 */
	public boolean hasGrant(LockKey key) {
		return this.engine.hasGrant(key);
	}

	/**
	 * Returns how well the renewals of held locks keep up.
	 * @return the status at this moment
	 */
	public RenewalStatus renewalStatus() {
		return this.engine.renewalStatus();
	}

	/**
	 * Returns whether the template grants locks.
	 * @return {@code false} from the beginning of a stop until the next start
	 */
	public boolean isRunning() {
		return !this.engine.isStopping();
	}

}
