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
import io.distributedlock.LockProvider;
import io.distributedlock.LockProvider.Grant;
import io.distributedlock.LockProvider.ReleaseOutcome;
import io.distributedlock.LockProviderException;
import io.distributedlock.LossReason;

/**
 * The parts of the engine over one provider, and what happens at the two ends of a hold.
 */
final class LockEngine {

	private static final Log logger = LogFactory.getLog(LockEngine.class);

	private static final int IO_THREADS = 8;

	private final LockProvider provider;

	private final LockSettings settings;

	private final LockTimer timer;

	private final LockEvents events;

	private final ThreadPoolExecutor io;

	private final Cleaner cleaner;

	private final Gates gates;

	private final Renewals renewals;

	private final LossWatch lossWatch;

	/** What is held now: entered before the holder sees it, left when it ends. */
	private final Set<TenureLease> held = ConcurrentHashMap.newKeySet();

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition idle = this.lock.newCondition();

	private volatile boolean stopping;

	LockEngine(LockProvider provider, LockSettings settings, LockTimer timer, LockEvents events) {
		this.provider = provider;
		this.settings = settings;
		this.timer = timer;
		this.events = events;
		this.io = LockThreads.pool(provider.name() + "-io", IO_THREADS);
		this.cleaner = new Cleaner(provider, settings.callTimeout(), timer, this.io, this::freed);
		this.gates = new Gates(this.cleaner);
		this.renewals = new Renewals(this, provider, settings);
		this.lossWatch = new LossWatch(this, timer);
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

	LockEvents events() {
		return this.events;
	}

	Gates gates() {
		return this.gates;
	}

	Cleaner cleaner() {
		return this.cleaner;
	}

	Collection<TenureLease> held() {
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
	 * @param tenure the tenure, already current in its gate
	 * @param sentAt when it was asked for
	 * @return the handle of its first holder
	 */
	TenureLease begin(Tenure tenure, long sentAt) {
		TenureLease lease = new TenureLease(this, tenure, 0);
		tenure.heldBy(lease);
		this.renewals.schedule(tenure, sentAt);
		this.held.add(lease);
		this.events.holdBegan(lease);
		this.renewals.register(tenure);
		this.lossWatch.watch(tenure);
		return lease;
	}

	/** The hold that the caller asked for begins or changes its end. */
	void beginHold(TenureLease lease, long start, LockTerms terms) {
		lease.tenure().beginHold(start, terms.maxHold());
		this.lossWatch.watch(lease.tenure());
	}

	/**
	 * The tenure's place was left to be released: gives it back, and lets the next ask.
	 */
	void release(TenureLease lease, Duration timeout) {
		// The answer may be that the term has ended, which brings the deadline forward.
		long deadline = lease.tenure().deadline();
		try {
			ReleaseOutcome outcome = send(lease.tenure().grant(), timeout);
			if (outcome == ReleaseOutcome.UNKNOWN) {
				logger.warn("Store '" + this.provider.name() + "' did not confirm the release of lock '" + lease.key()
						+ "'; it is repeated in the background, and the lock ends with its lease at the latest");
				cleanUp(lease.tenure());
			}
			else if (outcome == ReleaseOutcome.NOT_HELD && !Nanos.isPast(deadline, System.nanoTime())
					&& lease.tenure().loseAtRelease()) {
				tellLoss(lease, LossReason.NOT_HELD);
				return;
			}
			this.events.released(lease);
		}
		finally {
			end(lease);
			lease.tenure().gate().ended(lease.tenure());
		}
	}

	/** The tenure's place was left, and no time is left to wait for its release. */
	void releaseLater(TenureLease lease) {
		cleanUp(lease.tenure());
		this.events.released(lease);
		end(lease);
		lease.tenure().gate().ended(lease.tenure());
	}

	/**
	 * An interrupt must not keep a lock from being released; it is kept for the caller.
	 */
	private ReleaseOutcome send(Grant grant, Duration timeout) {
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
	void lose(TenureLease lease, LossReason reason) {
		if (lease.tenure().lose(reason)) {
			end(lease);
			lease.tenure().gate().ended(lease.tenure());
			tellLoss(lease, reason);
		}
	}

	private void tellLoss(TenureLease lease, LossReason reason) {
		this.events.lost(lease, reason);
		lease.runLossActions();
	}

	/** A lost lock's handle was closed: what may be left of it is taken back. */
	void abandon(TenureLease lease) {
		if (lease.tenure().abandon(System.nanoTime())) {
			cleanUp(lease.tenure());
		}
	}

	/** The store prolonged a tenure whose deadline had passed here. */
	void renewedTooLate(Tenure tenure) {
		lose(tenure.holder(), tenure.reasonOfDeadline());
		if (tenure.isAbandoned()) {
			cleanUp(tenure);
		}
	}

	private void cleanUp(Tenure tenure) {
		this.cleaner.release(tenure.grant().key(), tenure.grant().owner(), tenure.lease(), true);
	}

	private void end(TenureLease lease) {
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
		this.gates.signalAll();
		awaitIdle(grace.toNanos());
		this.renewals.close();
		this.cleaner.close();
		this.io.shutdown();
	}

	private void freed(LockKey key) {
		this.gates.changed(key);
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
