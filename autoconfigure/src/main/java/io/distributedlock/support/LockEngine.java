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
 * The parts of the engine over one provider, and what happens at the two ends of a hold.
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

	/** What is held now: entered before the holder sees it, left when it ends. */
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

	KeyQueueRegistry queues() {
		return this.queues;
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
	 * A grant has arrived in time: registers its renewal and the watch over its deadline,
	 * so that both stand before the caller sees the handle.
	 * @param grant the grant, already current in its queue
	 * @param sentAt when it was asked for
	 * @return the handle of its first holder
	 */
	SingleKeyLease begin(HeldGrant heldGrant, long sentAt) {
		SingleKeyLease lease = new SingleKeyLease(this, heldGrant, 0);
		heldGrant.heldBy(lease);
		this.renewals.schedule(heldGrant, sentAt);
		this.held.add(lease);
		this.events.holdBegan(lease);
		this.renewals.register(heldGrant);
		this.expiryWatch.watch(heldGrant);
		return lease;
	}

	/** The hold that the caller asked for begins or changes its end. */
	void beginHold(SingleKeyLease lease, long start, LockTerms terms) {
		lease.heldGrant().beginHold(start, terms.maxHold());
		this.expiryWatch.watch(lease.heldGrant());
	}

	/**
	 * The grant's place was left to be released: gives it back, and lets the next ask.
	 */
	void release(SingleKeyLease lease, Duration timeout) {
		// The answer may be that the term has ended, which brings the deadline forward.
		long deadline = lease.heldGrant().deadline();
		try {
			ReleaseOutcome outcome = send(lease.heldGrant().grant(), timeout);
			if (outcome == ReleaseOutcome.UNKNOWN) {
				logger.warn("Store '" + this.provider.name() + "' did not confirm the release of lock '" + lease.key()
						+ "'; it is repeated in the background, and the lock ends with its lease at the latest");
				cleanUp(lease.heldGrant());
			}
			else if (outcome == ReleaseOutcome.NOT_HELD && !Nanos.isPast(deadline, System.nanoTime())
					&& lease.heldGrant().loseAtRelease()) {
				tellLoss(lease, LossReason.NOT_HELD);
				return;
			}
			this.events.released(lease);
		}
		finally {
			end(lease);
			lease.heldGrant().queue().ended(lease.heldGrant());
		}
	}

	/** The grant's place was left, and no time is left to wait for its release. */
	void releaseLater(SingleKeyLease lease) {
		cleanUp(lease.heldGrant());
		this.events.released(lease);
		end(lease);
		lease.heldGrant().queue().ended(lease.heldGrant());
	}

	/**
	 * An interrupt must not keep a lock from being released; it is kept for the caller.
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

	/** The grant has ended under its holder: tells it, once. */
	void lose(SingleKeyLease lease, LossReason reason) {
		if (lease.heldGrant().lose(reason)) {
			end(lease);
			lease.heldGrant().queue().ended(lease.heldGrant());
			tellLoss(lease, reason);
		}
	}

	private void tellLoss(SingleKeyLease lease, LossReason reason) {
		this.events.lost(lease, reason);
		lease.runLossActions();
	}

	/** A lost lock's handle was closed: what may be left of it is taken back. */
	void abandon(SingleKeyLease lease) {
		if (lease.heldGrant().abandon(System.nanoTime())) {
			cleanUp(lease.heldGrant());
		}
	}

	/** The store prolonged a grant whose deadline had passed here. */
	void renewedTooLate(HeldGrant heldGrant) {
		lose(heldGrant.holder(), heldGrant.reasonOfDeadline());
		if (heldGrant.isAbandoned()) {
			cleanUp(heldGrant);
		}
	}

	private void cleanUp(HeldGrant heldGrant) {
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
	 * Grants no more, refuses who waits, goes on renewing while bodies finish within the
	 * grace period, then stops. Releases nothing under a running body.
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

	private void awaitIdle(long nanos) {
		long left = nanos;
		this.lock.lock();
		try {
			while (!this.held.isEmpty() && left > 0) {
				left = this.idle.awaitNanos(left);
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
