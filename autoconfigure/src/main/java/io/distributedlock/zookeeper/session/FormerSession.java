package io.distributedlock.zookeeper.session;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.StaticHostProvider;

import io.distributedlock.provider.LockThreads;

/**
 * Session of a former handle of the client, which the servers may still keep. Curator
 * replaces a handle that was not connected for longer than the session's time-out; its
 * end then reaches no server.
 */
public final class FormerSession {

	private static final Log logger = LogFactory.getLog(FormerSession.class);

	private static final ThreadFactory THREADS = LockThreads.factory("zookeeper-session");

	private FormerSession() {
	}

	/**
	 * Ends a session by another handle, with its id and password, on a thread of its own.
	 * A server that does not know the session any more says so at once. A session is left
	 * as it is if it is kept on purpose, if the servers have refused its handle, or if
	 * the present handle has it.
	 * @param session a session that has ended for this process
	 * @param present the session that the client has now
	 * @param client the client, which has connected since
	 */
	static void end(Session session, Session present, CuratorFramework client) {
		if (session.isAlive() || session.isKept() || session.isRefused() || session.id() == 0
				|| session.id() == present.id()) {
			return;
		}
		String servers = client.getZookeeperClient().getCurrentConnectionString();
		try {
			THREADS.newThread(() -> end(session, servers)).start();
		}
		catch (OutOfMemoryError ex) {
			logger.debug("There is no thread to end the former session", ex);
		}
	}

	private static void end(Session session, String servers) {
		ZooKeeper former = session.zooKeeper();
		CountDownLatch known = new CountDownLatch(1);
		long timeoutMillis = TimeUnit.NANOSECONDS.toMillis(session.grantedTimeoutNanos());
		try (ZooKeeper handle = new ZooKeeper(servers, (int) timeoutMillis, (event) -> {
			if (event.getState() != KeeperState.Disconnected) {
				known.countDown();
			}
		}, session.id(), former.getSessionPasswd(), false,
				new StaticHostProvider(new ConnectStringParser(servers).getServerAddresses()),
				former.getClientConfig())) {
			if (!known.await(timeoutMillis, TimeUnit.MILLISECONDS)) {
				logger.debug("The former session was not ended: it ends by its time-out");
			}
		}
		catch (IOException | InterruptedException ex) {
			logger.debug("The former session was not ended: it ends by its time-out", ex);
		}
	}

}
