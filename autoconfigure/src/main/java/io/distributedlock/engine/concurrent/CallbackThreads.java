package io.distributedlock.engine.concurrent;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;

import io.distributedlock.engine.concurrent.EngineEnvironment.Work;
import io.distributedlock.provider.LockTimer;

/**
 * The threads that report what has happened to locks, shared by all templates of an
 * application: two report losses and run no code of the application, up to 32 run the
 * actions for lost locks, and up to 8 run listeners and complete futures. All are
 * daemons, start when they are needed and end when they are idle. A warning names what
 * occupies them if something waits for a thread for a second. Safe for use by many
 * threads.
 *
 * @since 0.1.0
 */
public final class CallbackThreads implements AutoCloseable {

	private final Map<Work, CallbackPool> pools = new EnumMap<>(Work.class);

	/**
	 * Creates the threads, of which none is started yet.
	 * @param timer the timer for the warnings, which is not closed with the threads
	 */
	public CallbackThreads(LockTimer timer) {
		this.pools.put(Work.LOSSES, new CallbackPool("loss", 2, timer));
		this.pools.put(Work.LOSS_ACTIONS, new CallbackPool("on-lost", 32, timer));
		this.pools.put(Work.CALLBACKS, new CallbackPool("callback", 8, timer));
	}

	/** Returns the threads for a kind of callbacks. */
	public Executor executor(Work work) {
		return Objects.requireNonNull(this.pools.get(work), work::name);
	}

	/**
	 * Ends each thread as soon as it is idle. Callbacks of bodies that still run get a
	 * new one.
	 */
	@Override
	public void close() {
		this.pools.values().forEach(CallbackPool::endIdleThreads);
	}

}
