package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoredLock;
import io.distributedlock.zookeeper.session.CallDeadline;
import io.distributedlock.zookeeper.session.LockNodeState;
import io.distributedlock.zookeeper.session.LockPath;
import io.distributedlock.zookeeper.session.NodePaths;
import io.distributedlock.zookeeper.session.Session;
import io.distributedlock.zookeeper.session.SessionTracker;
import io.distributedlock.zookeeper.session.ZNode;
import io.distributedlock.zookeeper.session.ZooKeeperErrors;
import io.distributedlock.zookeeper.session.ZooKeeperOperations;

/**
 * Reader of the tree for operators, and maker of {@link UnlockRequests}. Its calls wait
 * on the calling thread.
 */
final class LockNodeInspector {

	private static final Log logger = LogFactory.getLog(LockNodeInspector.class);

	private final SessionTracker sessions;

	private final NodePaths paths;

	private final LockHolderResolver holders;

	private final LockTimer timer;

	LockNodeInspector(SessionTracker sessions, NodePaths paths, LockHolderResolver holders, LockTimer timer) {
		this.sessions = sessions;
		this.paths = paths;
		this.holders = holders;
		this.timer = timer;
	}

	/**
	 * Checks that the session lasts, and that the leader answers.
	 * @throws LockException if locks cannot be granted
	 */
	void probe(Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		ZooKeeperOperations operations = this.sessions.awaitReady(deadline).operations();
		ZNode root = await(operations.sync(this.paths.root())
			.thenCombine(operations.read(this.paths.root(), null), (synced, read) -> read), deadline);
		this.sessions.persistentNodes().requireSupported(root.data());
	}

	/**
	 * Finds the lock node of a lock that is held, or those of its shares.
	 * @throws LockException if the servers could not answer
	 */
	List<StoredLock> find(LockKey key, Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		Session session = this.sessions.awaitReady(deadline);
		CallDeadline call = new CallDeadline(new CompletableStoreCall<>(), timeout, this.timer);
		// Behind the sync the server knows what others have written before.
		Map<String, ZNode> held = await(
				session.operations()
					.sync(this.paths.root())
					.thenCombine(readHeld(session.operations(), this.paths.of(key)), (synced, nodes) -> nodes),
				deadline);
		List<StoredLock> locks = new ArrayList<>();
		held.forEach(
				(share, node) -> locks.add(new StoredLock(key.encoded(), share.isEmpty() ? null : new OwnerId(share),
						node.stat().getCzxid(), await(this.holders.resolve(node, session, call), deadline))));
		return locks;
	}

	/** Reads the lock node, under an empty name, or the shares by the names of theirs. */
	private static CompletableFuture<Map<String, ZNode>> readHeld(ZooKeeperOperations operations, LockPath path) {
		return ZooKeeperOperations.existing(operations.read(path.lockNode(), null)).thenCompose((node) -> {
			if (node.filter(ZNode::isContainer).isPresent()) {
				return operations.readChildren(path.lockNode());
			}
			return CompletableFuture.completedFuture(node.filter((read) -> !read.isIn(LockNodeState.RESERVED))
				.map((read) -> Map.of("", read))
				.orElse(Map.of()));
		});
	}

	/**
	 * Requests that the holder releases a lock, and waits until it has. The request names
	 * the grant, so that it ends no later one.
	 * @return {@link ReleaseOutcome#UNKNOWN} if the holder has not obeyed in time
	 * @throws LockException if the request could not be made
	 */
	ReleaseOutcome forceRelease(LockKey key, StoredLock lock, Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		Session session = this.sessions.awaitReady(deadline);
		LockPath path = this.paths.of(key);
		String request = this.paths.unlocks() + "/" + path.name();
		long czxid = Objects.requireNonNull(lock.order());
		CompletableFuture<Boolean> created = ZooKeeperOperations.recover(session.operations()
			.create(request, UnlockRequests.dataFor(czxid), CreateMode.EPHEMERAL)
			.thenApply((stat) -> true), Code.NODEEXISTS, () -> CompletableFuture.completedFuture(false));
		try {
			if (!await(created, deadline)) {
				requireSame(session, request, czxid, deadline);
			}
			OwnerId owner = lock.owner();
			return awaitRelease(session, (owner != null) ? path.ofShare(owner) : path, czxid, deadline);
		}
		finally {
			withdraw(session, request, created);
		}
	}

	/** Another process may require the same at the same time. */
	private static void requireSame(Session session, String request, long czxid, Deadline deadline) {
		Optional<ZNode> other = await(ZooKeeperOperations.existing(session.operations().read(request, null)), deadline);
		if (other.isPresent() && !Arrays.equals(other.get().data(), UnlockRequests.dataFor(czxid))) {
			throw LockProviderException.nothingSent(LockError.STORE_FAILED, ZooKeeperErrors.PROVIDER,
					"has another request to release this lock already: if its holder does not obey it, delete the node '"
							+ request + "'",
					null);
		}
	}

	/** Deletes a request that nobody has obeyed, also one that is created later. */
	private static void withdraw(Session session, String request, CompletableFuture<Boolean> created) {
		created.whenComplete((own, failed) -> {
			if (Boolean.TRUE.equals(own)) {
				session.operations().delete(request, -1).whenComplete((deleted, failure) -> {
					if (failure != null && !ZooKeeperErrors.is(failure, Code.NONODE)) {
						logger.debug("The request '" + request + "' ends with the session", failure);
					}
				});
			}
		});
	}

	private static ReleaseOutcome awaitRelease(Session session, LockPath path, long czxid, Deadline deadline) {
		try {
			while (true) {
				CompletableFuture<Boolean> changed = new CompletableFuture<>();
				Optional<ZNode> node = await(
						ZooKeeperOperations
							.existing(session.operations().read(path.lockNode(), (event) -> changed.complete(true))),
						deadline);
				if (node.isEmpty() || node.get().stat().getCzxid() != czxid
						|| node.get().isIn(LockNodeState.RESERVED)) {
					return ReleaseOutcome.RELEASED;
				}
				await(changed, deadline);
			}
		}
		catch (LockException ex) {
			logger.debug("It is not known whether the holder has released the lock", ex);
			return ReleaseOutcome.UNKNOWN;
		}
	}

	private static <T> T await(CompletableFuture<T> answer, Deadline deadline) {
		return ZooKeeperErrors.await(answer, deadline, ZooKeeperErrors::timedOut);
	}

}
