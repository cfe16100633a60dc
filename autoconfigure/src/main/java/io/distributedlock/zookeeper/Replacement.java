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
 * Takes another handle where the servers have refused the credentials of the present one,
 * which then never says anything again. Curator does not do so by itself, and does not
 * tell of it; with a client of the application's own that is left to the application.
 */
final class Replacement {

	private static final Log logger = LogFactory.getLog(Replacement.class);

	private static final Duration PAUSE = Duration.ofSeconds(1);

	private final CuratorFramework client;

	private final boolean exclusive;

	private final LockTimer timer;

	private final ReentrantLock lock;

	private final Runnable adopt;

	/**
	 * Creates the replacement.
	 * @param exclusive whether the client is for the locks alone
	 * @param lock under which a need can end: what was closed gets no handle any more
	 * @param adopt looks whether there is another handle that can be used
	 */
	Replacement(CuratorFramework client, boolean exclusive, LockTimer timer, ReentrantLock lock, Runnable adopt) {
		this.client = client;
		this.exclusive = exclusive;
		this.timer = timer;
		this.lock = lock;
		this.adopt = adopt;
	}

	/** Tries from time to time, as long as it is needed. */
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
			logger.debug("The timer has ended with the application", ex);
		}
	}

	/** Quick: a handle that was refused has nothing to say at its end. */
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
			logger.debug("There is no other handle yet", ex);
		}
		finally {
			this.lock.unlock();
		}
		return true;
	}

}
