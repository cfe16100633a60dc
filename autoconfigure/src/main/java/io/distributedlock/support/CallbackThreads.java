package io.distributedlock.support;

import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.distributedlock.provider.LockThreads;

/**
 * The threads that report what has happened to locks, shared by all templates of an
 * application: two report losses and run no code of the application, up to 32 run the
 * actions for lost locks, and up to 8 run listeners and complete futures. All are daemons,
 * start when they are needed and end when they are idle. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class CallbackThreads implements AutoCloseable {

	private final ThreadPoolExecutor losses = LockThreads.pool("loss", 2);

	private final ThreadPoolExecutor lossActions = LockThreads.pool("on-lost", 32);

	private final ThreadPoolExecutor callbacks = LockThreads.pool("callback", 8);

	Executor losses() {
		return this.losses;
	}

	Executor lossActions() {
		return this.lossActions;
	}

	Executor callbacks() {
		return this.callbacks;
	}

	/**
	 * Ends each thread as soon as it is idle. Callbacks of bodies that still run get a new
	 * one.
	 */
	@Override
	public void close() {
		this.losses.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
		this.lossActions.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
		this.callbacks.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
	}

}
