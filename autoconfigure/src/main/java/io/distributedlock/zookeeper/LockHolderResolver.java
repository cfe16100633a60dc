package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.zookeeper.session.CallDeadline;
import io.distributedlock.zookeeper.session.NodePaths;
import io.distributedlock.zookeeper.session.Session;
import io.distributedlock.zookeeper.session.ZNode;
import io.distributedlock.zookeeper.session.ZooKeeperErrors;

/**
 * Resolver of the holder of a lock node: the label in the process node of its session.
 * Caches the labels of the sessions used last.
 */
final class LockHolderResolver {

	private static final Log logger = LogFactory.getLog(LockHolderResolver.class);

	private static final int MAX_CACHED = 256;

	private final NodePaths paths;

	private final Map<Long, String> labels = Collections
		.synchronizedMap(new LinkedHashMap<Long, String>(16, 0.75f, true) {

			@Override
			protected boolean removeEldestEntry(Map.Entry<Long, String> eldest) {
				return size() > MAX_CACHED;
			}

		});

	LockHolderResolver(NodePaths paths) {
		this.paths = paths;
	}

	/**
	 * Resolves the holder of a lock node that is not reserved.
	 * @param lockNode the lock node as it was read
	 * @return completes with the holder; does not fail
	 */
	CompletableFuture<LockHolder> resolve(ZNode lockNode, Session session, CallDeadline deadline) {
		long owner = lockNode.stat().getEphemeralOwner();
		Duration held = Duration.ofMillis(session.millisSince(lockNode.stat().getCtime()));
		String cached = this.labels.get(owner);
		if (cached != null) {
			return CompletableFuture.completedFuture(LockHolder.of(cached).withHeldFor(held));
		}
		return deadline.await(session.operations().read(this.paths.process(owner), null))
			.handle((process, failure) -> LockHolder.of(label(owner, process, failure)).withHeldFor(held));
	}

	/**
	 * Resolves the holder of one of the shares in a container.
	 * @return completes with the holder, if it could be read; does not fail
	 */
	CompletableFuture<Optional<LockHolder>> resolveShare(String container, Session session, CallDeadline deadline) {
		return deadline.await(session.operations().children(container, null))
			.thenCompose((shares) -> shares.names().isEmpty()
					? CompletableFuture.completedFuture(Optional.<LockHolder>empty())
					: deadline.await(session.operations().read(container + "/" + shares.names().get(0), null))
						.thenCompose((share) -> resolve(share, session, deadline))
						.thenApply((holder) -> Optional.of(holder)))
			.exceptionally((ex) -> {
				logger.debug("A share could not be read", ex);
				return Optional.empty();
			});
	}

	private String label(long owner, @Nullable ZNode process, @Nullable Throwable failure) {
		if (process != null && process.data().length > 0) {
			String label = new String(process.data(), StandardCharsets.UTF_8);
			this.labels.put(owner, label);
			return label;
		}
		if (failure != null && !ZooKeeperErrors.is(failure, Code.NONODE)) {
			logger.debug("The holder's label could not be read", failure);
		}
		return "session 0x" + Long.toHexString(owner);
	}

}
