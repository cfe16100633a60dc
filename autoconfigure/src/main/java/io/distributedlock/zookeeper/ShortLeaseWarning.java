package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.LockError;

/**
 * Warning, logged once, that a lease is shorter than the session's time-out: after a
 * crash of its holder a lock lasts until that time-out has passed.
 */
final class ShortLeaseWarning {

	private static final Log logger = LogFactory.getLog(ShortLeaseWarning.class);

	private final String remedy;

	private final AtomicBoolean logged = new AtomicBoolean();

	/**
	 * Creates a warning that was not logged.
	 * @param ownClient whether the client was built from the properties of the locks
	 */
	ShortLeaseWarning(boolean ownClient) {
		this.remedy = (ownClient ? "Shorten distributed-lock.zookeeper.session-timeout"
				: "Shorten the session's time-out of the application's CuratorFramework")
				+ " (the servers' least is two of their ticks, unless they set minSessionTimeout), or use a longer lease";
	}

	void check(Duration lease, long sessionTimeoutNanos) {
		if (lease.toNanos() < sessionTimeoutNanos && this.logged.compareAndSet(false, true)) {
			logger.warn(LockError.SHORT_LEASE.describe("A lock was acquired with a lease of " + lease.toMillis()
					+ " ms, but ZooKeeper keeps the locks of a process that died for its session's time-out of "
					+ Duration.ofNanos(sessionTimeoutNanos).toMillis() + " ms", this.remedy));
		}
	}

}
