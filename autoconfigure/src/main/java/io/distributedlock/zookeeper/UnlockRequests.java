package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.zookeeper.node.LockNode;
import io.distributedlock.zookeeper.node.LockNodeRegistry;
import io.distributedlock.zookeeper.session.NodePaths;
import io.distributedlock.zookeeper.session.Session;
import io.distributedlock.zookeeper.session.ZNode;
import io.distributedlock.zookeeper.session.ZooKeeperErrors;
import io.distributedlock.zookeeper.session.ZooKeeperOperations;

/**
 * Requests of operators to release a lock: nodes that have the name of a lock node, below
 * a parent that each process watches. The holder obeys a request that is younger than its
 * lock node: it loses the lock, releases it, and deletes the request. The {@code czxid}
 * of both nodes decides which is younger, so that a request which nobody has obeyed never
 * ends a later grant. The data of a request may name the grant that it means, by the
 * {@code czxid} of its lock node: then it ends no other one. A request for a share has
 * the name of the lock too; one that means another share is left to its process. One that
 * names no share ends all that are older, and remains until they have ended.
 * <p>
 * An operator cannot delete the lock node instead: the release of its former holder could
 * delete the next lock node of the same name. Nothing here blocks.
 */
final class UnlockRequests {

	private static final Log logger = LogFactory.getLog(UnlockRequests.class);

	/** The data of the parent, for operators who look at it. */
	private static final byte[] HELP = ("To release a lock, create a node here that has the name of its lock node."
			+ " Its holder obeys and deletes the request. Never delete a lock node.")
		.getBytes(StandardCharsets.UTF_8);

	/** Precedes the {@code czxid} in the data of a request for one grant. */
	private static final String GRANT = "czxid=";

	private final NodePaths paths;

	private final LockNodeRegistry lockNodes;

	private final Consumer<LockNode> release;

	/** The requests for all shares of a lock that remain until the last of them ends. */
	private final Set<String> obeyed = ConcurrentHashMap.newKeySet();

	/** The last session whose missing permission was logged. */
	private volatile @Nullable Session warned;

	/** Each takes a grant away from its holder, if it knows the grant. */
	private final List<BiConsumer<LockKey, OwnerId>> handlers = new CopyOnWriteArrayList<>();

	/**
	 * Creates the requests below a root.
	 * @param release releases a lock node that no handler has released
	 */
	UnlockRequests(NodePaths paths, LockNodeRegistry lockNodes, Consumer<LockNode> release) {
		this.paths = paths;
		this.lockNodes = lockNodes;
		this.release = release;
	}

	/** Returns the data of a request that means the grant of one lock node. */
	static byte[] dataFor(long czxid) {
		return (GRANT + czxid).getBytes(StandardCharsets.UTF_8);
	}

	/** Adds a handler, which ignores a grant that it does not know. */
	void addHandler(BiConsumer<LockKey, OwnerId> handler) {
		this.handlers.add(handler);
	}

	/** Removes a handler that was added. */
	void removeHandler(BiConsumer<LockKey, OwnerId> handler) {
		this.handlers.remove(handler);
	}

	/**
	 * Reads the requests in a session, and watches for the next ones until it ends. A
	 * request that is made while the session is not connected is seen afterwards.
	 */
	void watch(Session session) {
		if (session.hasEnded()) {
			return;
		}
		session.operations()
			.children(this.paths.unlocks(), new RequestWatcher(this, session))
			.whenComplete((requests, failure) -> {
				if (requests != null) {
					this.lockNodes.find(Set.copyOf(requests.names()), session).forEach(this::consider);
				}
				else if (ZooKeeperErrors.is(failure, Code.NONODE)) {
					createParent(session);
				}
				else {
					notWatched(session, failure);
				}
			});
	}

	/** Locks work without the requests, so that a missing permission is no failure. */
	private void notWatched(Session session, Throwable failure) {
		if (ZooKeeperErrors.is(failure, Code.NOAUTH) && this.warned != session) {
			this.warned = session;
			logger.warn("Requests of operators to release a lock are not obeyed: this client lacks the permission "
					+ ZooKeeperErrors.unwrap(failure).getMessage());
		}
		else {
			logger.debug("The requests to release a lock could not be read", failure);
		}
	}

	private void createParent(Session session) {
		session.operations().create(this.paths.unlocks(), HELP, CreateMode.PERSISTENT).whenComplete((stat, failure) -> {
			if (stat != null || ZooKeeperErrors.is(failure, Code.NODEEXISTS)) {
				watch(session);
			}
			else {
				notWatched(session, failure);
				awaitParent(session);
			}
		});
	}

	/**
	 * Watches a parent that this client cannot create, in case that somebody else does.
	 */
	private void awaitParent(Session session) {
		session.operations()
			.stat(this.paths.unlocks(), new RequestWatcher(this, session))
			.whenComplete((stat, failure) -> {
				if (stat != null) {
					watch(session);
				}
			});
	}

	private void consider(LockNode node) {
		String request = this.paths.unlocks() + "/" + node.path().name();
		ZooKeeperOperations
			.recover(node.session().operations().read(request, null), Code.NOAUTH, () -> unreadable(node, request))
			.whenComplete((read, failure) -> decide(node, request, read, failure));
	}

	/** Reads a request of an operator who lets no process read its data. */
	private static CompletableFuture<ZNode> unreadable(LockNode node, String request) {
		return node.session().operations().stat(request, null).thenApply((stat) -> new ZNode(new byte[0], stat));
	}

	private static boolean means(ZNode request, LockNode node) {
		return request.stat().getCzxid() > node.czxid()
				&& (!namesGrant(request) || Arrays.equals(request.data(), dataFor(node.czxid())));
	}

	private static boolean namesGrant(ZNode request) {
		return new String(request.data(), StandardCharsets.UTF_8).startsWith(GRANT);
	}

	private void decide(LockNode node, String request, @Nullable ZNode read, @Nullable Throwable failure) {
		if (read == null) {
			if (!ZooKeeperErrors.is(failure, Code.NONODE)) {
				logger.debug("The request '" + request + "' could not be read", failure);
			}
			return;
		}
		if (means(read, node)) {
			logger.warn("Lock '" + node.key() + "' is released, because ZooKeeper has the node '" + request + "'");
			obey(node);
		}
		if (node.path().isShare() && !namesGrant(read)) {
			if (this.obeyed.add(request)) {
				deleteAfterShares(node, request, read.stat().getCzxid());
			}
		}
		else if (means(read, node) || !node.path().isShare()) {
			delete(node.session(), request);
		}
	}

	/**
	 * Deletes a request for all shares once the last of them has ended: other processes
	 * may not have seen it before.
	 */
	private void deleteAfterShares(LockNode node, String request, long czxid) {
		ZooKeeperOperations operations = node.session().operations();
		String container = node.path().exclusive().lockNode();
		CompletableFuture<Boolean> changed = new CompletableFuture<>();
		operations.children(container, (event) -> {
			boolean ended = event.getState() == KeeperState.Expired || event.getState() == KeeperState.Closed;
			if (ended || event.getType() != EventType.None) {
				changed.complete(!ended);
			}
		}).exceptionally((failure) -> {
			changed.complete(false);
			return null;
		});
		operations.readChildren(container)
			.thenCompose((shares) -> shares.values().stream().anyMatch((share) -> share.stat().getCzxid() < czxid)
					? changed : CompletableFuture.completedFuture(false))
			.whenComplete((again, failure) -> {
				if (failure == null && again) {
					deleteAfterShares(node, request, czxid);
				}
				else {
					this.obeyed.remove(request);
					delete(node.session(), request);
				}
			});
	}

	private void obey(LockNode node) {
		for (BiConsumer<LockKey, OwnerId> handler : this.handlers) {
			try {
				handler.accept(node.key(), node.owner());
			}
			catch (RuntimeException ex) {
				logger.error("The loss of lock '" + node.key() + "' could not be told", ex);
			}
		}
		// Also if no handler knows the grant, or can release it any more.
		if (this.lockNodes.beginRelease(node)) {
			this.release.accept(node);
			this.lockNodes.remove(node);
		}
	}

	private static void delete(Session session, String request) {
		session.operations().delete(request, -1).whenComplete((deleted, failure) -> {
			if (failure != null && !ZooKeeperErrors.is(failure, Code.NONODE)) {
				logger.warn("The request '" + request + "' was obeyed, but not deleted: " + failure.getMessage());
			}
		});
	}

	/**
	 * Watcher for the requests in one session. Equal to each other one for the same
	 * session, so that ZooKeeper's client keeps one.
	 */
	private record RequestWatcher(UnlockRequests requests, Session session) implements Watcher {

		@Override
		public void process(WatchedEvent event) {
			if (event.getType() != EventType.None) {
				this.requests.watch(this.session);
			}
		}

	}

}
