package io.distributedlock.zookeeper.session;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.admin.ZooKeeperAdmin;
import org.apache.zookeeper.client.ZKClientConfig;

/**
 * Handle that can be closed without the end of its session: it only disconnects, as in a
 * crash of the process.
 */
final class LockZooKeeper extends ZooKeeperAdmin {

	private static final Log logger = LogFactory.getLog(LockZooKeeper.class);

	/** How long earlier requests are waited for before a disconnection. */
	private static final long FLUSH_MILLIS = 1000;

	private volatile BooleanSupplier keepSession = () -> false;

	private volatile boolean keptSession;

	LockZooKeeper(String connectString, int sessionTimeout, Watcher watcher, boolean canBeReadOnly,
			ZKClientConfig config) throws IOException {
		super(connectString, sessionTimeout, watcher, canBeReadOnly, config);
	}

	/** Keeps the session if a condition holds when this handle is closed. */
	void keepSessionWhile(BooleanSupplier condition) {
		this.keepSession = condition;
	}

	/** Returns whether this handle was closed without the end of its session. */
	boolean hasKeptSession() {
		return this.keptSession;
	}

	@Override
	@SuppressWarnings("UnsynchronizedOverridesSynchronized") // waits for the server
	public void close() throws InterruptedException {
		if (!getState().isAlive() || !this.keepSession.getAsBoolean()) {
			super.close();
			return;
		}
		try {
			awaitEarlierRequests();
		}
		finally {
			this.keptSession = true;
			this.cnxn.disconnect();
		}
	}

	/** Waits for requests that were sent before, such as the end of reservations. */
	private void awaitEarlierRequests() throws InterruptedException {
		if (getState().isConnected()) {
			CountDownLatch answered = new CountDownLatch(1);
			sync("/", (code, path, context) -> answered.countDown(), null);
			if (!answered.await(FLUSH_MILLIS, TimeUnit.MILLISECONDS)) {
				logger.debug("Earlier requests were not answered in time");
			}
		}
	}

}
