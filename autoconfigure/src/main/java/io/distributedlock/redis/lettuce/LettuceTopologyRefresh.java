package io.distributedlock.redis.lettuce;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.RedisClusterClient;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.redis.script.RedisErrors;

/**
 * Refreshes Lettuce's view of a cluster after a node did not reply or redirected a call,
 * once a second at most. Unless the application configures a refresh, Lettuce keeps
 * calling the old node.
 */
final class LettuceTopologyRefresh {

	private static final Log logger = LogFactory.getLog(LettuceTopologyRefresh.class);

	private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final AtomicLong lastRefreshNanos = new AtomicLong(System.nanoTime() - PAUSE_NANOS);

	/** Refreshes the view if the failure of a call hints at a change. */
	void onFailure(AbstractRedisClient client, Throwable ex) {
		if (!(ex instanceof RedisCommandExecutionException) || RedisErrors.isMoved(ex)) {
			refresh(client);
		}
	}

	/** Refreshes the view, on a thread of the client that may open connections. */
	void refresh(AbstractRedisClient client) {
		long now = System.nanoTime();
		long last = this.lastRefreshNanos.get();
		if (client instanceof RedisClusterClient cluster && now - last >= PAUSE_NANOS
				&& this.lastRefreshNanos.compareAndSet(last, now)) {
			try {
				cluster.getResources().eventExecutorGroup().execute(() -> refreshNow(cluster));
			}
			catch (RejectedExecutionException ex) {
				logger.debug("The client was shut down", ex);
			}
		}
	}

	private static void refreshNow(RedisClusterClient cluster) {
		try {
			cluster.refreshPartitionsAsync().whenComplete((done, ex) -> {
				if (ex != null) {
					logger.debug("The topology of the cluster could not be refreshed", ex);
				}
			});
		}
		catch (RuntimeException ex) {
			logger.debug("The client was shut down", ex);
		}
	}

}
