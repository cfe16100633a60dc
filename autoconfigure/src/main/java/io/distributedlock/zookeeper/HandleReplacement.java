package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.curator.CuratorZookeeperClient;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooKeeper;

import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.LockTimer;

/**
 * Replacement of a ZooKeeper handle whose credentials the servers have refused: such a
 * handle never connects again, and Curator neither replaces it nor reports it. The handle
 * of a client that the application also uses is left to the application.
 * <p>
 * Curator may wait for the end of the former handle. Each try has a thread of its own, so
 * that neither the timer nor an event thread waits with it.
 */
final class HandleReplacement implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(HandleReplacement.class);

	private static final Duration PAUSE = Duration.ofSeconds(1);

	private final CuratorFramework client;

	private final boolean exclusive;

	private final LockTimer timer;

	private final BooleanSupplier needed;

	private final Runnable adopt;

	private final ThreadFactory threads = LockThreads.factory("zookeeper-handle");

	/** Whether a try is scheduled or under way. */
	private final AtomicBoolean started = new AtomicBoolean();

	/** Held while the handle is replaced: a closed client must not get another one. */
	private final ReentrantLock lock = new ReentrantLock();

	private boolean closed;

	/**
	 * Creates the replacement.
	 * @param needed returns whether the client's handle may be a refused one
	 * @param adopt adopts the client's handle if it is another one that can be used
	 */
	HandleReplacement(CuratorFramework client, ZooKeeperLockSettings settings, LockTimer timer, BooleanSupplier needed,
			Runnable adopt) {
		this.client = client;
		this.exclusive = settings.exclusive();
		this.timer = timer;
		this.needed = needed;
		this.adopt = adopt;
	}

	/** Starts to replace the handle once a second, as long as that is needed. */
	void start() {
		if (this.started.compareAndSet(false, true)) {
			schedule();
		}
	}

	private void schedule() {
		try {
			this.timer.schedule(this::startTry, PAUSE);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The timer is closed", ex);
		}
	}

	private void startTry() {
		try {
			this.threads.newThread(this::tryOnce).start();
		}
		catch (OutOfMemoryError ex) {
			logger.debug("There is no thread to replace the client's handle", ex);
			schedule();
		}
	}

	private void tryOnce() {
		if (this.needed.getAsBoolean()) {
			try {
				replace();
				this.adopt.run();
			}
			catch (Exception ex) {
				logger.debug("The client has no other handle yet", ex);
			}
			schedule();
			return;
		}
		this.started.set(false);
		if (this.needed.getAsBoolean()) {
			start();
		}
	}

	private void replace() throws Exception {
		this.lock.lock();
		try {
			CuratorZookeeperClient present = this.client.getZookeeperClient();
			if (this.exclusive && !this.closed && present.getZooKeeper().getState() == ZooKeeper.States.AUTH_FAILED) {
				present.reset();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Ends the replacement, after the one that is under way. */
	@Override
	public void close() {
		this.lock.lock();
		try {
			this.closed = true;
		}
		finally {
			this.lock.unlock();
		}
	}

}
