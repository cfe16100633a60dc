package io.distributedlock.engine.queue;

import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.engine.concurrent.NodeThreads;
import io.distributedlock.engine.concurrent.StopState;
import io.distributedlock.engine.event.LockEventPublisher;
import io.distributedlock.engine.grant.EngineFailures;
import io.distributedlock.engine.grant.HeldGrants;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.engine.release.PendingReleaseQueue;
import io.distributedlock.provider.LockProvider;

/**
 * What the parts of an engine share.
 *
 * @param provider the store
 * @param isBlocking whether a call to the store works on the calling thread
 * @param settings the defaults and bounds
 * @param environment the clock, the timer, random numbers and threads
 * @param locks the locks of the keys
 * @param attemptThreads the threads for attempts of requests without a thread
 * @param events the observers and listeners
 * @param failures the failures that the engine itself tells
 * @param pendingReleases the releases that no caller waits for
 * @param heldGrants the grants that are held
 * @param holdStart the beginning of each hold
 * @param stopState whether the engine is stopping
 */
public record EngineContext(LockProvider provider, boolean isBlocking, LockSettings settings,
		EngineEnvironment environment, QueueMutexes locks, NodeThreads attemptThreads, LockEventPublisher events,
		EngineFailures failures, PendingReleaseQueue pendingReleases, HeldGrants heldGrants, HoldStart holdStart,
		StopState stopState) {

	public long nanoTime() {
		return this.environment.nanoTime();
	}

}
