package io.distributedlock.zookeeper.session;

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
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.zookeeper.ZooKeeper;

import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.LockTimer;

/**
 * Replacement of a ZooKeeper handle whose session has ended by the client's next one.
 * Curator replaces a handle whose session was expired or that was reset, but reports that
 * only if the client was disconnected long enough before. It never replaces a handle
 * whose credentials the servers have refused: such a handle never connects again. This
 * class does, unless the application also uses the client.
 * <p>
 * Curator may wait for the end of the former handle. Each try has a thread of its own, so
 * that neither the timer nor an event thread waits with it.
 */
final class HandleReplacement implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(HandleReplacement.class);

	private static final Duration PAUSE = Duration.ofMillis(200);

	/** The looks at a client that is not connected before its handle is replaced. */
	private static final int LOOKS_PER_TRY = 5;

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

	/** Used by one look at a time. */
	private int looks;

	/**
	 * Creates the replacement.
	 * @param needed returns whether there is no session that lasts
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

	/** Starts to look for another handle, as long as that is needed. */
	void start() {
		if (this.started.compareAndSet(false, true)) {
			schedule();
		}
	}

	private void schedule() {
		try {
			this.timer.schedule(this::look, PAUSE);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The timer is closed", ex);
		}
	}

	/** Starts a try if the client has connected, or may have a refused handle. */
	private void look() {
		boolean due = ++this.looks % LOOKS_PER_TRY == 0;
		if (!isNeeded()) {
			this.started.set(false);
			if (isNeeded()) {
				start();
			}
		}
		else if (due || this.client.getZookeeperClient().isConnected()) {
			startTry();
		}
		else {
			schedule();
		}
	}

	private boolean isNeeded() {
		return this.needed.getAsBoolean() && this.client.getState() != CuratorFrameworkState.STOPPED;
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
		try {
			replace();
			this.adopt.run();
		}
		catch (Exception ex) {
			logger.debug("The client has no other handle yet", ex);
		}
		schedule();
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
