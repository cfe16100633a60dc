package io.distributedlock.zookeeper.session;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;

/**
 * Start of a client that serves locks alone, when a session is needed first: it connects
 * from then on. The application starts any other client.
 */
final class ExclusiveClient {

	private static final Log logger = LogFactory.getLog(ExclusiveClient.class);

	private ExclusiveClient() {
	}

	/** Starts the client if it serves locks alone and was never started. */
	static void startIfLatent(CuratorFramework client, ZooKeeperLockSettings settings) {
		if (settings.exclusive() && client.getState() == CuratorFrameworkState.LATENT) {
			try {
				client.start();
			}
			catch (IllegalStateException ex) {
				logger.debug("Another thread has started the client", ex);
			}
		}
	}

}
