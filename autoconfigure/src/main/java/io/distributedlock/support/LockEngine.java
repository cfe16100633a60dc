package io.distributedlock.support;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.LockSnapshot;
import io.distributedlock.LossReason;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockObserver.AcquireOutcome;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.support.EngineEnvironment.Work;

/**
 * The engine over one provider: its parts, and the beginning and end of each hold. It
 * stops once; a template that is started again has a new one.
 */
final class LockEngine {

	private static final Log logger = LogFactory.getLog(LockEngine.class);

	private final LockProvider provider;

	private final LockSettings settings;

	private final EngineEnvironment environment;

	private final Runnable closeEnvironment;

	private final LockEventPublisher events;

	private final boolean blocking;

	private final PendingReleaseQueue pendingReleases;

	private final KeyQueueRegistry queues = new KeyQueueRegistry(this);

	private final RenewalScheduler renewals;

	private final ExpiryWatch expiryWatch;

	/** The held locks: added before the holder sees its handle, removed at the end. */
	private final Set<Hold> held = ConcurrentHashMap.newKeySet();

	/** The requests for several keys, which may have acquired some of them. */
	private final Set<MultiKeyRequest> multiKeyRequests = ConcurrentHashMap.newKeySet();

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition progress = this.lock.newCondition();

	private volatile boolean stopping;

	LockEngine(LockProvider provider, LockSettings settings, EngineEnvironment environment,
			LockEventPublisher events, Runnable closeEnvironment) {
		this.provider = provider;
		this.settings = settings;
		this.environment = environment;
		this.closeEnvironment = closeEnvironment;
		this.events = events;
		this.blocking = provider.isBlocking();
		this.pendingReleases = new PendingReleaseQueue(provider, settings.callTimeout(), environment,
				this.queues::notified);
		this.renewals = new RenewalScheduler(this, provider, settings, environment);
		this.expiryWatch = new ExpiryWatch(this, environment);
	}

	LockProvider provider() {
		return this.provider;
	}

	LockSettings settings() {
		return this.settings;
	}

	EngineEnvironment environment() {
		return this.environment;
	}

	LockEventPublisher events() {
		return this.events;
	}

	PendingReleaseQueue pendingReleases() {
		return this.pendingReleases;
	}

	Collection<Hold> held() {
		return this.held;
	}

	long nanoTime() {
		return this.environment.nanoTime();
	}

	/** Whether a call to the store works on the calling thread. */
	boolean isBlocking() {
		return this.blocking;
	}

	boolean isStopping() {
		return this.stopping;
	}

	LockProviderException shuttingDown(LockKey key) {
		return LockProviderException.nothingSent(LockError.SHUTTING_DOWN, this.provider.name(),
				"grants no locks any more: the application is shutting down, and lock '" + key + "' was not acquired",
				null);
	}

	LockProviderException timedOut() {
		return new LockProviderException(LockError.STORE_TIMEOUT, this.provider.name(),
				"did not answer in time (distributed-lock.call-timeout)", null);
	}

	LockProviderException noCallbackThread() {
		return LockProviderException.nothingSent(LockError.STORE_TIMEOUT, this.provider.name(),
				"granted the lock, but all callback threads were occupied for longer than the call time-out by actions "
						+ "that depend on other futures; the lock was released",
				null);
	}

	/** Creates the request of a driver. */
	Acquisition request(List<LockKey> keys, LockRequest request, RequestDriver driver) {
		LockTerms terms = LockTerms.of(request, this.settings);
		WaitBudget budget = WaitBudget.of(terms, this.settings.callTimeout(), nanoTime());
		if (keys.size() == 1) {
			return new KeyRequest(this, keys.get(0), terms, budget, driver, true);
		}
		MultiKeyRequest multiKeyRequest = new MultiKeyRequest(this, keys, terms, budget, driver);
		this.multiKeyRequests.add(multiKeyRequest);
		return multiKeyRequest;
	}

	/** Removes a request that has ended, and released what it had acquired. */
	void remove(MultiKeyRequest request) {
		this.multiKeyRequests.remove(request);
		recordProgress();
	}

	/** The queue in which a request for the key waits for its turn. */
	KeyQueue queue(LockKey key) {
		return this.provider.isExclusive() ? this.queues.queue(key) : this.queues.unshared(key);
	}

	/**
	 * Removes a closed queue after its contest has ended: a new queue of the key would
	 * else enter the wait queue before the withdrawal of the old one is known.
	 */
	void remove(KeyQueue queue, @Nullable KeyContest contest) {
		try {
			if (contest != null) {
				end(queue.key(), contest);
			}
		}
		finally {
			this.queues.remove(queue);
			recordProgress();
		}
	}

	/** Ends a contest. */
	void end(LockKey key, KeyContest contest) {
		LockContender contender = contest.contender();
		if (contender != null) {
			end(key, contender, contest.isEnqueued());
		}
	}

	/** Ends the use of a contender, and withdraws its entry from the wait queue. */
	void end(LockKey key, LockContender contender, boolean enqueued) {
		if (enqueued) {
			this.pendingReleases.withdraw(key, contender);
		}
		else {
			contender.close();
		}
	}

	/** Returns the number of keys that are held or waited for. */
	int queueCount() {
		return this.queues.size();
	}

	/** Sends the attempt of a queue on the threads for attempts. */
	void sendInBackground(KeyQueue queue) {
		try {
			this.environment.executor(Work.ATTEMPTS).execute(queue::send);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			queue.failPrepared(ex);
		}
	}

	/**
	 * Begins a grant that has arrived in time, already current in its queue: registers its
	 * renewal and the watch over its deadline before the requester sees the handle.
	 */
	void begin(Hold hold, KeyRequest request) {
		try {
			this.renewals.schedule(hold.heldGrant());
			this.held.add(hold);
			if (!request.isComplete()) {
				request.report(AcquireOutcome.ACQUIRED);
			}
			this.events.holdBegan(hold);
			this.renewals.register(hold.heldGrant());
			this.expiryWatch.watch(hold.heldGrant());
		}
		catch (RuntimeException | Error ex) {
			hold.closeInBackground();
			request.complete(new RequestOutcome.Failed(ex));
			request.signal();
			return;
		}
		if (this.stopping) {
			hold.closeInBackground();
			request.complete(new RequestOutcome.Failed(shuttingDown(hold.key())));
		}
		else if (!request.complete(new RequestOutcome.Acquired(hold))) {
			hold.closeInBackground();
		}
		request.signal();
	}

	/** Returns what is held and waited for. */
	LockSnapshot snapshot() {
		long now = nanoTime();
		return new LockSnapshot(this.held.stream().filter(Hold::isHeld).map((hold) -> hold.view(now)).toList(),
				this.queues.waiting(now));
	}

	/** Takes a lock away from its holder, and releases it in the store. */
	boolean forceRelease(LockKey key) {
		boolean found = false;
		for (Hold hold : this.held) {
			if (hold.key().equals(key) && hold.heldGrant().lose(LossReason.FORCED)) {
				found = true;
				try {
					addPending(hold.heldGrant());
				}
				finally {
					end(hold);
				}
				this.events.lost(hold, LossReason.FORCED);
			}
		}
		return found;
	}

	/** Begins the hold that the caller requested. */
	void beginHold(Hold hold, long startNanos, LockTerms terms) {
		hold.heldGrant().beginHold(startNanos, terms.maxHold());
		this.expiryWatch.watch(hold.heldGrant());
	}

	/**
	 * Releases a grant whose hold has ended, and lets the next waiter attempt. An
	 * interrupted thread stays interrupted.
	 * @param untilNanos the end of the call by the nano time
	 */
	void release(Hold hold, long untilNanos) {
		boolean interrupted = Thread.interrupted();
		ReleaseOutcome outcome = ReleaseOutcome.UNKNOWN;
		// The answer may be that the session has ended, which brings the deadline
		// forward.
		long deadline = hold.heldGrant().deadlineNanos();
		try {
			StoreCall<ReleaseOutcome> call = startRelease(hold, Math.max(1, untilNanos - nanoTime()));
			if (CallWait.await(call, this.environment, untilNanos)) {
				outcome = call.result();
			}
		}
		catch (RuntimeException | Error ex) {
			logger.debug("Store '" + this.provider.name() + "' failed to release lock '" + hold.key() + "'", ex);
		}
		finally {
			endRelease(hold, deadline, outcome);
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	StoreCall<ReleaseOutcome> startRelease(Hold hold, long timeoutNanos) {
		LockGrant grant = hold.heldGrant().grant();
		return this.provider.release(grant.key(), grant.owner(), Duration.ofNanos(timeoutNanos));
	}

	/**
	 * Handles the answer to a release.
	 * @param deadlineNanos the deadline of the grant before the release
	 */
	void endRelease(Hold hold, long deadlineNanos, ReleaseOutcome outcome) {
		HeldGrant heldGrant = hold.heldGrant();
		try {
			if (outcome == ReleaseOutcome.UNKNOWN) {
				logger.warn("Store '" + this.provider.name() + "' did not confirm the release of lock '" + hold.key()
						+ "'; it is repeated in the background, and the lock ends with its lease at the latest");
				addPending(heldGrant);
			}
			else if (outcome == ReleaseOutcome.NOT_HELD && !Nanos.isPast(deadlineNanos, nanoTime())
					&& heldGrant.loseAtRelease()) {
				this.events.lost(hold, LossReason.NOT_HELD);
				return;
			}
			this.events.released(hold);
		}
		finally {
			end(hold);
		}
	}

	/** Releases a grant whose hold has ended, without waiting for the answer. */
	void releaseInBackground(Hold hold) {
		try {
			addPending(hold.heldGrant());
			this.events.released(hold);
		}
		finally {
			end(hold);
		}
	}

	/** Ends the hold of a grant that was lost, and reports the loss once. */
	void lose(Hold hold, LossReason reason) {
		if (hold.heldGrant().lose(reason)) {
			end(hold);
			this.events.lost(hold, reason);
		}
	}

	/** Releases what may remain in the store of a lost lock whose handle was closed. */
	void abandon(Hold hold) {
		if (hold.heldGrant().abandon(nanoTime())) {
			addPending(hold.heldGrant());
		}
	}

	/** Handles a renewal that the store confirmed after the local deadline. */
	void renewedTooLate(HeldGrant heldGrant) {
		lose(heldGrant.holder(), heldGrant.reasonOfDeadline());
		if (heldGrant.isAbandoned()) {
			addPending(heldGrant);
		}
	}

	private void addPending(HeldGrant heldGrant) {
		this.pendingReleases.release(heldGrant.grant().key(), heldGrant.grant().owner(), heldGrant.lease(), true);
	}

	private void end(Hold hold) {
		this.held.remove(hold);
		hold.heldGrant().queue().ended(hold.heldGrant());
		recordProgress();
	}

	private void recordProgress() {
		if (this.stopping) {
			this.lock.lock();
			try {
				this.progress.signalAll();
			}
			finally {
				this.lock.unlock();
			}
		}
	}

	/**
	 * Stops granting, refuses waiting requests, and renews held locks while their bodies
	 * finish within the grace period. Releases no lock under a running body. Before the
	 * connections may be closed, refused requests release what they have acquired and
	 * leave the wait queues of the store, within the call time-out.
	 * @param grace how long to wait for the bodies
	 */
	void stop(Duration grace) {
		beginStop();
		try {
			await(this.held::isEmpty, TimeUnit.NANOSECONDS.convert(grace));
			long last = this.settings.callTimeout().toNanos();
			await(this::isQuiet, last);
			this.pendingReleases.awaitSent(last);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		endStop();
	}

	/** From now on refuses every request. */
	void beginStop() {
		this.stopping = true;
		this.queues.signalAll();
	}

	/** Whether all refused requests have left. */
	boolean isQuiet() {
		return !this.queues.hasWaiters() && this.multiKeyRequests.isEmpty();
	}

	/** Ends all background work. */
	void endStop() {
		this.renewals.close();
		this.pendingReleases.close();
		this.closeEnvironment.run();
	}

	private void await(BooleanSupplier condition, long nanos) throws InterruptedException {
		long left = nanos;
		this.lock.lock();
		try {
			while (!condition.getAsBoolean() && left > 0) {
				left = this.progress.awaitNanos(left);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

}
