package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;
import io.distributedlock.LockSnapshot;
import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.engine.concurrent.EngineEnvironment.Work;
import io.distributedlock.engine.concurrent.NodeThreads;
import io.distributedlock.engine.concurrent.StopState;
import io.distributedlock.engine.event.LockEventPublisher;
import io.distributedlock.engine.grant.EngineFailures;
import io.distributedlock.engine.grant.HeldGrants;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.engine.grant.LockTerms;
import io.distributedlock.engine.queue.EngineContext;
import io.distributedlock.engine.queue.HoldStart;
import io.distributedlock.engine.queue.KeyQueueRegistry;
import io.distributedlock.engine.queue.KeyRequest;
import io.distributedlock.engine.queue.MultiKeyRequest;
import io.distributedlock.engine.queue.QueueMutexes;
import io.distributedlock.engine.queue.RequestCheck;
import io.distributedlock.engine.queue.RequestRunner;
import io.distributedlock.engine.queue.RunningRequest;
import io.distributedlock.engine.queue.WaitBudget;
import io.distributedlock.engine.release.PendingReleaseQueue;
import io.distributedlock.engine.renewal.ExpiryWatch;
import io.distributedlock.engine.renewal.RenewalScheduler;
import io.distributedlock.engine.renewal.RenewalStatus;
import io.distributedlock.provider.LockProvider;

/**
 * The engine over one provider: its parts, the requests, and the stop. It stops once; a
 * template that is started again has a new one.
 */
final class LockEngine {

	private final EngineContext context;

	private final Runnable closeEnvironment;

	private final KeyQueueRegistry queues;

	private final RenewalScheduler renewals;

	private final LockRunner execution;

	private final ShortRenewalWarning shortRenewals;

	/**
	 * Shared by the requests without terms of their own, since a grant keeps its terms.
	 */
	private final LockTerms defaultTerms;

	/** The requests for several keys, which may have acquired some of them. */
	private final Set<MultiKeyRequest> multiKeyRequests = ConcurrentHashMap.newKeySet();

	LockEngine(LockProvider provider, LockSettings settings, EngineEnvironment environment, LockEventPublisher events,
			EnclosingTransaction transaction, Runnable closeEnvironment) {
		this.closeEnvironment = closeEnvironment;
		this.shortRenewals = new ShortRenewalWarning(settings);
		this.defaultTerms = new LockTerms(settings.lease(), true, settings.maxHold(), null, 0);
		EngineFailures failures = new EngineFailures(provider.name());
		StopState stopState = new StopState();
		PendingReleaseQueue pendingReleases = new PendingReleaseQueue(provider, settings.callTimeout(), environment,
				this::notified);
		HeldGrants heldGrants = new HeldGrants(provider, environment, settings, events, pendingReleases);
		this.renewals = new RenewalScheduler(heldGrants, provider, settings, environment, failures);
		HoldStart holdStart = new HoldStart(heldGrants, this.renewals, new ExpiryWatch(heldGrants, environment));
		this.context = new EngineContext(provider, provider.isBlocking(), settings, environment, new QueueMutexes(),
				new NodeThreads(environment, Work.ATTEMPTS, Math.max(1, provider.concurrentCalls())), events, failures,
				pendingReleases, heldGrants, holdStart, stopState);
		this.queues = new KeyQueueRegistry(this.context);
		this.execution = new LockRunner(this.context, this::request, transaction);
	}

	private void notified(LockKey key) {
		this.queues.notified(key);
	}

	EngineContext context() {
		return this.context;
	}

	LockRunner execution() {
		return this.execution;
	}

	/** Creates the request of a runner. */
	RunningRequest request(List<LockKey> keys, LockRequest request, RequestRunner runner) {
		RequestCheck.requirePossible(request, this.context);
		this.shortRenewals.check(request);
		LockSettings settings = this.context.settings();
		LockTerms own = LockTerms.of(request, settings);
		LockTerms terms = own.equals(this.defaultTerms) ? this.defaultTerms : own;
		Duration wait = (request.waitTime() != null) ? request.waitTime() : settings.waitTime();
		long now = this.context.nanoTime();
		WaitBudget budget = runner.waitsUnlimited() ? WaitBudget.unlimited(wait, settings.callTimeout(), now)
				: WaitBudget.of(wait, settings.callTimeout(), now);
		if (keys.size() == 1) {
			return new KeyRequest(this.context, this.queues, keys.get(0), terms, budget, runner, true,
					this.context.events().acquireStarted(keys.get(0), terms.mode()));
		}
		MultiKeyRequest multiKeyRequest = new MultiKeyRequest(this.context, this.queues, keys, terms, budget, runner,
				this::ended);
		this.multiKeyRequests.add(multiKeyRequest);
		return multiKeyRequest;
	}

	private void ended(MultiKeyRequest request) {
		this.multiKeyRequests.remove(request);
		this.context.stopState().recordProgress();
	}

	/** Returns the number of keys that are held or waited for. */
	int queueCount() {
		return this.queues.size();
	}

	/** Returns what is held and waited for. */
	LockSnapshot snapshot() {
		return new LockSnapshot(this.context.provider().name(), this.context.heldGrants().views(),
				this.queues.waiting(this.context.nanoTime()));
	}

	/** Returns whether an exclusive grant is held, offered, or being released. */
	boolean hasGrant(LockKey key) {
		return this.context.heldGrants().has(key) || this.context.pendingReleases().isReleasing(key);
	}

	/** Returns how well the renewals keep up. */
	RenewalStatus renewalStatus() {
		return this.renewals.status();
	}

	boolean isStopping() {
		return this.context.stopState().isStopping();
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
			this.context.stopState().await(this.context.heldGrants()::isEmpty, TimeUnit.NANOSECONDS.convert(grace));
			long last = this.context.settings().callTimeout().toNanos();
			this.context.stopState().await(() -> isQuiet() && hasEndedOffers(), last);
			this.context.pendingReleases().awaitSent(last);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		endStop();
	}

	/** From now on refuses every request. */
	void beginStop() {
		this.context.stopState().begin();
		this.queues.signalAll();
	}

	/** Whether all refused requests have left. */
	boolean isQuiet() {
		return !this.queues.hasWaiters() && this.multiKeyRequests.isEmpty();
	}

	/** Whether no grant is offered or being released, which the store has to be told. */
	private boolean hasEndedOffers() {
		return this.context.heldGrants().all().stream().allMatch((grant) -> grant.isCurrent() && !grant.isOffered());
	}

	/** Ends all background work. */
	void endStop() {
		this.renewals.close();
		this.context.pendingReleases().close();
		this.closeEnvironment.run();
	}

}
