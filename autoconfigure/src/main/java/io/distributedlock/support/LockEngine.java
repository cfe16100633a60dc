package io.distributedlock.support;

import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.LossReason;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.ReleaseOutcome;

/**
 * The engine over one provider: its parts, and the beginning and end of each hold.
 */
final class LockEngine {

	private static final Log logger = LogFactory.getLog(LockEngine.class);

	private static final int IO_THREADS = 8;

	private final LockProvider provider;

	private final LockSettings settings;

	private final LockTimer timer;

	private final LockEventPublisher events;

	private final ThreadPoolExecutor io;

	private final PendingReleaseQueue pendingReleases;

	private final KeyQueueRegistry queues;

	private final RenewalScheduler renewals;

	private final ExpiryWatch expiryWatch;

	/** The held locks: added before the holder sees its handle, removed at the end. */
	private final Set<SingleKeyLease> held = ConcurrentHashMap.newKeySet();

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition idle = this.lock.newCondition();

	private volatile boolean stopping;

	LockEngine(LockProvider provider, LockSettings settings, LockTimer timer, LockEventPublisher events) {
		this.provider = provider;
		this.settings = settings;
		this.timer = timer;
		this.events = events;
		this.io = LockThreads.pool(provider.name() + "-io", IO_THREADS);
		this.pendingReleases = new PendingReleaseQueue(provider, settings.callTimeout(), timer, this.io, this::freed);
		this.queues = new KeyQueueRegistry(this.pendingReleases);
		this.renewals = new RenewalScheduler(this, provider, settings);
		this.expiryWatch = new ExpiryWatch(this, timer);
	}

	LockProvider provider() {
		return this.provider;
	}

	LockSettings settings() {
		return this.settings;
	}

	LockTimer timer() {
		return this.timer;
	}

	Executor io() {
		return this.io;
	}

	LockEventPublisher events() {
		return this.events;
	}

	/** The queue in which a request for the key waits for its turn. */
	KeyQueue queue(LockKey key) {
		return this.provider.isExclusive() ? this.queues.queue(key) : this.queues.unshared(key);
	}

	PendingReleaseQueue pendingReleases() {
		return this.pendingReleases;
	}

	Collection<SingleKeyLease> held() {
		return this.held;
	}

	boolean isStopping() {
		return this.stopping;
	}

	LockProviderException shuttingDown(LockKey key) {
		return LockProviderException.nothingSent(LockError.SHUTTING_DOWN, this.provider.name(),
				"grants no locks any more: the application is shutting down, and lock '" + key + "' was not acquired",
				null);
	}

	/**
	 * Begins a grant that has arrived in time: registers its renewal and the watch over
	 * its deadline before the caller sees the handle.
	 * @param heldGrant the grant, already current in its queue
	 * @param sentNanos when the attempt was sent
	 * @return the handle of the first hold
	 */
	SingleKeyLease begin(HeldGrant heldGrant, long sentNanos) {
		SingleKeyLease lease = new SingleKeyLease(this, heldGrant, 0);
		heldGrant.heldBy(lease);
		this.renewals.schedule(heldGrant, sentNanos);
		this.held.add(lease);
		this.events.holdBegan(lease);
		this.renewals.register(heldGrant);
		this.expiryWatch.watch(heldGrant);
		return lease;
	}

	/** Begins the hold that the caller requested. */
	void beginHold(SingleKeyLease lease, long startNanos, LockTerms terms) {
		lease.heldGrant().beginHold(startNanos, terms.maxHold());
		this.expiryWatch.watch(lease.heldGrant());
	}

	/**
	 * Releases a grant whose hold has ended, and lets the next waiter attempt.
	 */
	void release(SingleKeyLease lease, Duration timeout) {
		// The answer may be that the session has ended, which brings the deadline
		// forward.
		long deadline = lease.heldGrant().deadlineNanos();
		try {
			ReleaseOutcome outcome = send(lease.heldGrant().grant(), timeout);
			if (outcome == ReleaseOutcome.UNKNOWN) {
				logger.warn("Store '" + this.provider.name() + "' did not confirm the release of lock '" + lease.key()
						+ "'; it is repeated in the background, and the lock ends with its lease at the latest");
				releaseInBackground(lease.heldGrant());
			}
			else if (outcome == ReleaseOutcome.NOT_HELD && !Nanos.isPast(deadline, System.nanoTime())
					&& lease.heldGrant().loseAtRelease()) {
				reportLoss(lease, LossReason.NOT_HELD);
				return;
			}
			this.events.released(lease);
		}
		finally {
			end(lease);
			lease.heldGrant().queue().recordEnd(lease.heldGrant());
		}
	}

	/** Releases a grant whose hold has ended in the background. */
	void releaseLater(SingleKeyLease lease) {
		releaseInBackground(lease.heldGrant());
		this.events.released(lease);
		end(lease);
		lease.heldGrant().queue().recordEnd(lease.heldGrant());
	}

	/**
	 * Sends a release, also from an interrupted thread, which stays interrupted.
	 */
	private ReleaseOutcome send(LockGrant grant, Duration timeout) {
		boolean interrupted = Thread.interrupted();
		try {
			return this.provider.release(grant.key(), grant.owner(), timeout);
		}
		catch (RuntimeException | Error ex) {
			logger.debug("Store '" + this.provider.name() + "' failed to release lock '" + grant.key() + "'", ex);
			return ReleaseOutcome.UNKNOWN;
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/** Ends the hold of a grant that was lost, and reports the loss once. */
	void lose(SingleKeyLease lease, LossReason reason) {
		if (lease.heldGrant().lose(reason)) {
			end(lease);
			lease.heldGrant().queue().recordEnd(lease.heldGrant());
			reportLoss(lease, reason);
		}
	}

	private void reportLoss(SingleKeyLease lease, LossReason reason) {
		this.events.lost(lease, reason);
		lease.runLossActions();
	}

	/** Releases what may remain in the store of a lost lock whose handle was closed. */
	void abandon(SingleKeyLease lease) {
		if (lease.heldGrant().abandon(System.nanoTime())) {
			releaseInBackground(lease.heldGrant());
		}
	}

	/** Handles a renewal that the store confirmed after the local deadline. */
	void renewedTooLate(HeldGrant heldGrant) {
		lose(heldGrant.holder(), heldGrant.reasonOfDeadline());
		if (heldGrant.isAbandoned()) {
			releaseInBackground(heldGrant);
		}
	}

	private void releaseInBackground(HeldGrant heldGrant) {
		this.pendingReleases.release(heldGrant.grant().key(), heldGrant.grant().owner(), heldGrant.lease(), true);
	}

	private void end(SingleKeyLease lease) {
		this.held.remove(lease);
		if (this.stopping) {
			this.lock.lock();
			try {
				this.idle.signalAll();
			}
			finally {
				this.lock.unlock();
			}
		}
	}

	/**
	 * Stops granting, refuses waiting requests, and renews held locks while their bodies
	 * finish within the grace period. Releases no lock under a running body.
	 * @param grace how long to wait for the bodies
	 */
	void stop(Duration grace) {
		this.stopping = true;
		this.queues.signalAll();
		awaitIdle(grace.toNanos());
		this.renewals.close();
		this.pendingReleases.close();
		this.io.shutdown();
		this.events.close();
	}

	private void freed(LockKey key) {
		this.queues.changed(key);
	}

	private void awaitIdle(long graceNanos) {
		long leftNanos = graceNanos;
		this.lock.lock();
		try {
			while (!this.held.isEmpty() && leftNanos > 0) {
				leftNanos = this.idle.awaitNanos(leftNanos);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		finally {
			this.lock.unlock();
		}
	}

}
