package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.LockProviderException;

/**
 * Resolver of the holder of a lock node: the label in the process node of its session.
 * Caches the labels of the sessions used last.
 */
final class LockHolderResolver {

	private static final Log logger = LogFactory.getLog(LockHolderResolver.class);

	private static final int MAX_CACHED = 256;

	private final NodePaths paths;

	private final ReentrantLock lock = new ReentrantLock();

	private final Map<Long, String> labels = new LinkedHashMap<>(16, 0.75f, true);

	LockHolderResolver(NodePaths paths) {
		this.paths = paths;
	}

	/**
	 * Resolves the holder of a lock node.
	 * @param lockNode the lock node as it was read, or {@code null} if it was missing
	 * @return the holder, or {@code null} where no process holds the lock
	 */
	@Nullable LockHolder resolve(@Nullable ZNode lockNode, Session session, CallDeadline deadline) {
		if (lockNode == null || lockNode.isIn(LockNodeState.RESERVED)) {
			return null;
		}
		long owner = lockNode.stat().getEphemeralOwner();
		return new LockHolder(label(owner, session, deadline),
				Duration.ofMillis(session.millisSince(lockNode.stat().getCtime())), null);
	}

	private String label(long owner, Session session, CallDeadline deadline) {
		String cached = cached(owner);
		if (cached != null) {
			return cached;
		}
		try {
			ZNode process = deadline.awaitNode(session.operations().read(this.paths.process(owner), null));
			if (process != null && process.data().length > 0) {
				return cache(owner, new String(process.data(), StandardCharsets.UTF_8));
			}
		}
		catch (LockProviderException ex) {
			logger.debug("The holder's label could not be read", ex);
		}
		return "session 0x" + Long.toHexString(owner);
	}

	private @Nullable String cached(long owner) {
		this.lock.lock();
		try {
			return this.labels.get(owner);
		}
		finally {
			this.lock.unlock();
		}
	}

	private String cache(long owner, String label) {
		this.lock.lock();
		try {
			this.labels.put(owner, label);
			if (this.labels.size() > MAX_CACHED) {
				this.labels.remove(this.labels.keySet().iterator().next());
			}
		}
		finally {
			this.lock.unlock();
		}
		return label;
	}

}
