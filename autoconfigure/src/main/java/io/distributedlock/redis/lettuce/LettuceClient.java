package io.distributedlock.redis.lettuce;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.RedisErrors;

/**
 * The client of a Lettuce connection factory, which is another one after the factory was
 * stopped and started, and its view of the nodes of a cluster. A single server has one
 * slot and no known node.
 */
final class LettuceClient {

	private static final Log logger = LogFactory.getLog(LettuceClient.class);

	private static final Duration REFRESH_PAUSE = Duration.ofSeconds(1);

	private final LettuceConnectionFactory factory;

	private final DisconnectCounter disconnects;

	private final Runnable onChange;

	private final AtomicReference<Deadline> nextRefresh = new AtomicReference<>(Deadline.now());

	/** The last client that has connected: any other would ask for its nodes first. */
	private volatile @Nullable AbstractRedisClient connected;

	/**
	 * Creates an access to the client.
	 * @param disconnects watches the client before its first use
	 * @param onChange runs before the first use of another client; must not block
	 */
	LettuceClient(LettuceConnectionFactory factory, DisconnectCounter disconnects, Runnable onChange) {
		this.factory = factory;
		this.disconnects = disconnects;
		this.onChange = onChange;
	}

	/** Returns the present client, or {@code null} while the factory is stopped. */
	@Nullable AbstractRedisClient find() {
		try {
			return this.factory.getNativeClient();
		}
		catch (IllegalStateException ex) {
			return null;
		}
	}

	/**
	 * Returns the present client for a call.
	 * @throws io.distributedlock.LockProviderException if the factory is stopped
	 */
	AbstractRedisClient require() {
		try {
			AbstractRedisClient client = this.factory.getRequiredNativeClient();
			if (this.disconnects.watch(client)) {
				this.onChange.run();
			}
			return client;
		}
		catch (IllegalStateException ex) {
			throw RedisErrors.notConnected(ex);
		}
	}

	/**
	 * Whether a connection failed because the client knows no server: only the factory
	 * knows the nodes of a static master/replica configuration.
	 */
	static boolean isWithoutServer(RuntimeException ex) {
		return ex instanceof IllegalStateException && ex.getMessage() != null
				&& ex.getMessage().startsWith("RedisURI is not available");
	}

	/** Returns the slot of a key. */
	int slot(byte[] key) {
		return this.factory.isClusterAware() ? SlotHash.getSlot(key) : 0;
	}

	/** Identifies the master of a slot, if it is known without asking a server. */
	@Nullable Object node(int slot) {
		if (!(this.connected instanceof RedisClusterClient cluster)) {
			return null;
		}
		RedisClusterNode node = cluster.getPartitions().getMasterBySlot(slot);
		return (node != null) ? node.getNodeId() : null;
	}

	/** Records that a client has connected, and so knows the nodes. */
	void recordConnected(AbstractRedisClient client) {
		this.connected = client;
	}

	/** Refreshes the view of the nodes if the failure of a call hints at a change. */
	void onFailure(AbstractRedisClient client, Throwable ex) {
		if (!(ex instanceof RedisCommandExecutionException) || RedisErrors.isMoved(ex)) {
			refresh(client);
		}
	}

	/**
	 * Refreshes the view of the nodes, once a second at most, on a thread of the client
	 * that may open connections. Unless the application configures a refresh, Lettuce
	 * keeps calling the old node.
	 */
	void refresh(AbstractRedisClient client) {
		Deadline next = Objects.requireNonNull(this.nextRefresh.get());
		if (client instanceof RedisClusterClient cluster && next.isPast()
				&& this.nextRefresh.compareAndSet(next, Deadline.after(REFRESH_PAUSE))) {
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
