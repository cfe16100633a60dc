package io.distributedlock.redis;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.RedisClusterClient;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Has Lettuce look again who serves which slot of a cluster, after a node did not answer
 * or sent us to another one: unless configured, it goes on asking the old one for ever.
 */
final class LettuceTopologyRefresh {

	private static final Log logger = LogFactory.getLog(LettuceTopologyRefresh.class);

	private static final long PAUSE = TimeUnit.SECONDS.toNanos(1);

	private final AtomicLong lastLook = new AtomicLong(System.nanoTime() - PAUSE);

	void failed(AbstractRedisClient client, Throwable ex) {
		if (!(ex instanceof RedisCommandExecutionException) || RedisErrors.isMoved(ex)) {
			lookAgain(client);
		}
	}

	private void lookAgain(AbstractRedisClient client) {
		long now = System.nanoTime();
		long last = this.lastLook.get();
		if (client instanceof RedisClusterClient cluster && now - last >= PAUSE
				&& this.lastLook.compareAndSet(last, now)) {
			cluster.refreshPartitionsAsync().whenComplete((done, ex) -> {
				if (ex != null) {
					logger.debug("The nodes of the cluster could not be looked for", ex);
				}
			});
		}
	}

}
