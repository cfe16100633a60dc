package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiPredicate;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.OwnerId;

/**
 * Requests of operators to release a lock: nodes that have the name of a lock node, below
 * a parent that each process watches. The holder obeys a request that is younger than its
 * lock node: it loses the lock, releases it, and deletes the request. The {@code czxid}
 * of both nodes decides which is younger, so that a request which nobody has obeyed never
 * ends a later grant.
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

	private final NodePaths paths;

	private final LockNodeRegistry lockNodes;

	private final Consumer<LockNode> release;

	/** Each takes a grant away from its holder, if it knows the grant. */
	private final List<BiPredicate<LockKey, OwnerId>> handlers = new CopyOnWriteArrayList<>();

	/**
	 * Creates the requests below a root.
	 * @param release releases a lock node that no handler knows
	 */
	UnlockRequests(NodePaths paths, LockNodeRegistry lockNodes, Consumer<LockNode> release) {
		this.paths = paths;
		this.lockNodes = lockNodes;
		this.release = release;
	}

	/** Adds a handler, which returns {@code false} for a grant that it does not know. */
	void addHandler(BiPredicate<LockKey, OwnerId> handler) {
		this.handlers.add(handler);
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
					requests.names().forEach((name) -> consider(session, name));
				}
				else if (ZooKeeperErrors.is(failure, Code.NONODE)) {
					createParent(session);
				}
				else {
					logger.debug("The requests to release a lock could not be read", failure);
				}
			});
	}

	private void createParent(Session session) {
		session.operations().create(this.paths.unlocks(), HELP, CreateMode.PERSISTENT).whenComplete((stat, failure) -> {
			if (stat != null || ZooKeeperErrors.is(failure, Code.NODEEXISTS)) {
				watch(session);
			}
			else {
				logger.debug("No request to release a lock can be made", failure);
			}
		});
	}

	private void consider(Session session, String name) {
		LockNode node = this.lockNodes.find(name, session);
		if (node == null) {
			return;
		}
		String request = this.paths.unlocks() + "/" + name;
		session.operations().stat(request).whenComplete((stat, failure) -> decide(node, request, stat, failure));
	}

	private void decide(LockNode node, String request, @Nullable Stat stat, @Nullable Throwable failure) {
		if (stat == null) {
			if (!ZooKeeperErrors.is(failure, Code.NONODE)) {
				logger.debug("The request '" + request + "' could not be read", failure);
			}
			return;
		}
		if (stat.getCzxid() > node.czxid()) {
			logger.warn("Lock '" + node.key() + "' is released, because ZooKeeper has the node '" + request + "'");
			obey(node);
		}
		delete(node.session(), request);
	}

	private void obey(LockNode node) {
		boolean known = false;
		for (BiPredicate<LockKey, OwnerId> handler : this.handlers) {
			known |= handler.test(node.key(), node.owner());
		}
		if (!known && this.lockNodes.beginRelease(node)) {
			this.release.accept(node);
			this.lockNodes.remove(node);
		}
	}

	private static void delete(Session session, String request) {
		session.operations().delete(request, -1).whenComplete((deleted, failure) -> {
			if (failure != null && !ZooKeeperErrors.is(failure, Code.NONODE)) {
				logger.debug("The request '" + request + "' could not be deleted", failure);
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
