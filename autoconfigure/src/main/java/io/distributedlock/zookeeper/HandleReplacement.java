package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.curator.CuratorZookeeperClient;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooKeeper;

import io.distributedlock.provider.LockTimer;

/**
 * Replacement of a ZooKeeper handle whose credentials the servers have refused: such a
 * handle never connects again, and Curator neither replaces it nor reports it. The handle
 * of a client that the application also uses is left to the application.
 */
final class HandleReplacement {

	private static final Log logger = LogFactory.getLog(HandleReplacement.class);

	private static final Duration PAUSE = Duration.ofSeconds(1);

	private final CuratorFramework client;

	private final boolean exclusive;

	private final LockTimer timer;

	private final ReentrantLock lock;

	private final Runnable adopt;

	/**
	 * Creates the replacement.
	 * @param lock the lock under which the need for a replacement can end
	 * @param adopt adopts the client's handle if it is another one that can be used
	 */
	HandleReplacement(CuratorFramework client, ZooKeeperLockSettings settings, LockTimer timer, ReentrantLock lock,
			Runnable adopt) {
		this.client = client;
		this.exclusive = settings.exclusive();
		this.timer = timer;
		this.lock = lock;
		this.adopt = adopt;
	}

	/** Starts to replace the handle once a second, as long as that is needed. */
	void start(BooleanSupplier needed) {
		try {
			this.timer.schedule(() -> {
				if (replace(needed)) {
					this.adopt.run();
					start(needed);
				}
			}, PAUSE);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The timer is closed", ex);
		}
	}

	/** Replaces the handle, which is quick: a refused handle has no session to close. */
	private boolean replace(BooleanSupplier needed) {
		this.lock.lock();
		try {
			if (!needed.getAsBoolean()) {
				return false;
			}
			CuratorZookeeperClient present = this.client.getZookeeperClient();
			if (this.exclusive && present.getZooKeeper().getState() == ZooKeeper.States.AUTH_FAILED) {
				present.reset();
			}
		}
		catch (Exception ex) {
			logger.debug("The client has no other handle yet", ex);
		}
		finally {
			this.lock.unlock();
		}
		return true;
	}

}
