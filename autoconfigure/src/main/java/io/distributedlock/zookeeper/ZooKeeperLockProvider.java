package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.utils.ZKPaths;

import org.springframework.util.Assert;

import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockInspector;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.provider.StoredLock;
import io.distributedlock.zookeeper.node.LockNode;
import io.distributedlock.zookeeper.node.LockNodeRegistry;
import io.distributedlock.zookeeper.node.ReleaseOperations;
import io.distributedlock.zookeeper.node.UnacknowledgedCommands;
import io.distributedlock.zookeeper.session.NodePaths;
import io.distributedlock.zookeeper.session.RootRegistration;
import io.distributedlock.zookeeper.session.Session;
import io.distributedlock.zookeeper.session.SessionListener;
import io.distributedlock.zookeeper.session.SessionTracker;
import io.distributedlock.zookeeper.session.ZooKeeperErrors;
import io.distributedlock.zookeeper.session.ZooKeeperLockSettings;

/**
 * Lock provider for a ZooKeeper ensemble. A held lock is an ephemeral node in the session
 * of this process; the node's {@code czxid} is the order of the grant.
 * <p>
 * An acquire and a release cost one request each while no process waits. Processes that
 * wait enter a wait queue per lock, and a release reserves the lock for the head of that
 * queue. A grant ends with the session, which is relied upon only as long as answered
 * writes prove that it lasts, or with its lease if that is not renewed. An ensemble that
 * does not answer is a {@link LockProviderException}, never a busy lock.
 * <p>
 * The documentation of this package describes the recipe. Only {@link #check}, the calls
 * of an operator, and the blocking ones that a lock without waiters needs make the
 * calling thread wait; any other is continued on the client's event thread. No call needs
 * a thread of its own. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class ZooKeeperLockProvider implements LockProvider, LockInspector, AutoCloseable {

	private static final Log logger = LogFactory.getLog(ZooKeeperLockProvider.class);

	private static final long CLEAN_UP_PAUSE_MILLIS = 500;

	private final AtomicLong contenders = new AtomicLong();

	private final RootRegistration registration;

	private final NodePaths paths;

	private final SessionTracker sessions;

	private final LockNodeRegistry lockNodes;

	private final QueueEntryRegistry queueEntries = new QueueEntryRegistry();

	private final ReleaseOperations releases;

	private final ReleaseCalls releaseCalls;

	private final UnacknowledgedCommands undecided;

	private final UnlockRequests unlockRequests;

	private final ZooKeeperContext components;

	private final FreeLockCalls freeLockCalls;

	private final LockNodeInspector inspector;

	/**
	 * Creates a provider that tracks the client's sessions from now on.
	 * @param client the client, which the caller closes. The caller may start it later;
	 * one that serves locks alone is started when a session is needed first
	 * @param settings the settings
	 * @param timer the timer for the ends of leases and reservations, for heartbeats, and
	 * for waits that precede a request
	 * @throws io.distributedlock.LockConfigurationException if another open provider of
	 * this JVM uses the same client and root
	 */
	public ZooKeeperLockProvider(CuratorFramework client, ZooKeeperLockSettings settings, LockTimer timer) {
		String namespace = client.getNamespace();
		String root = (namespace == null || namespace.isEmpty()) ? settings.root()
				: ZKPaths.makePath(namespace, settings.root());
		this.paths = new NodePaths(root, settings.keyPrefix());
		this.releases = new ReleaseOperations(this.queueEntries::dequeue, timer);
		this.lockNodes = new LockNodeRegistry(timer, this::expire);
		this.undecided = new UnacknowledgedCommands(this.lockNodes, this.releases, timer);
		this.releaseCalls = new ReleaseCalls(this.lockNodes, this.releases, this.undecided, timer);
		this.unlockRequests = new UnlockRequests(this.paths, this.lockNodes, this.undecided::release);
		this.sessions = new SessionTracker(client, settings, this.paths, timer, new SessionEvents());
		LockHolderResolver holders = new LockHolderResolver(this.paths);
		this.components = new ZooKeeperContext(this.sessions, this.lockNodes, this.queueEntries, this.releases,
				this.undecided, holders, new ShortLeaseWarning(settings.exclusive()), timer);
		this.freeLockCalls = new FreeLockCalls(this.components, this.releaseCalls);
		this.inspector = new LockNodeInspector(this.sessions, this.paths, holders, timer);
		this.registration = RootRegistration.register(client, root);
		try {
			this.sessions.start();
		}
		catch (RuntimeException ex) {
			close();
			throw ex;
		}
	}

	@Override
	public String name() {
		return ZooKeeperErrors.PROVIDER;
	}

	SessionTracker sessions() {
		return this.sessions;
	}

	UnacknowledgedCommands undecided() {
		return this.undecided;
	}

	private void expire(LockNode node) {
		this.undecided.release(node);
	}

	@Override
	public LockContender newContender(LockKey key, Runnable onNotified) {
		return newShareContender(key, 0, onNotified);
	}

	@Override
	public boolean supports(LockMode mode) {
		return true;
	}

	@Override
	public LockContender newShareContender(LockKey key, int limit, Runnable onNotified) {
		return new ZooKeeperContender(this.components,
				new ContenderId(key, this.paths.of(key), limit, this.contenders.incrementAndGet(), onNotified),
				this.freeLockCalls);
	}

	@Override
	public boolean isBlocking() {
		return false;
	}

	@Override
	public void addForcedReleaseHandler(BiConsumer<LockKey, OwnerId> handler) {
		this.unlockRequests.addHandler(handler);
	}

	@Override
	public void removeForcedReleaseHandler(BiConsumer<LockKey, OwnerId> handler) {
		this.unlockRequests.removeHandler(handler);
	}

	@Override
	public StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		return new RenewalOperation(this.lockNodes, this.undecided, this.components.timer(), timeout).renew(leases);
	}

	@Override
	public StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration keepFor, Duration timeout) {
		Assert.isTrue(keepFor.isZero(), "ZooKeeper keeps no lock after its release");
		return this.releaseCalls.release(key, owner, timeout);
	}

	@Override
	public StoreCall<ReleaseOutcome> releaseBlocking(LockGrant grant, Duration timeout) {
		return this.freeLockCalls.release(grant, timeout);
	}

	@Override
	public void check(Duration timeout) {
		this.sessions.awaitReady(Deadline.after(timeout));
	}

	/**
	 * Checks that the session lasts, and that the leader answers.
	 */
	@Override
	public void probe(Duration timeout) {
		this.inspector.probe(timeout);
	}

	/**
	 * Finds the lock node of a key. Only its holder has the owner id of an exclusive
	 * grant.
	 */
	@Override
	public Optional<StoredLock> find(LockKey key, Duration timeout) {
		return findAll(key, timeout).stream().findFirst();
	}

	@Override
	public List<StoredLock> findAll(LockKey key, Duration timeout) {
		return this.inspector.find(key, timeout);
	}

	/**
	 * Requests that the process which holds the lock releases it, and waits until it has.
	 */
	@Override
	public ReleaseOutcome forceRelease(LockKey key, StoredLock lock, Duration timeout) {
		return this.inspector.forceRelease(key, lock, timeout);
	}

	/**
	 * Closes this provider, but not its client. A lock that is still held is not released
	 * under its holder: the holder can release it, or its lease ends. It is relied upon
	 * only as long as the session is proven to last, which no heartbeat prolongs. No
	 * reservation and no queue entry of this process remains for which others would wait.
	 */
	@Override
	public void close() {
		// Sent while the session is still known here.
		this.queueEntries.close();
		this.releases.close();
		try {
			Session last = this.sessions.close();
			if (last != null) {
				this.lockNodes.share();
				last.keepWhile(() -> !this.lockNodes.isEmpty());
				cleanUp(last);
			}
		}
		finally {
			this.registration.close();
		}
	}

	/**
	 * Lets the last session last until no node remains for which others would wait.
	 * <p>
	 * A lock that is held can be released by its holder, or ends with its lease. Either
	 * deletes the lock node as long as the client is open; otherwise the node ends with
	 * the session. A reservation or a queue entry whose deletion has had no answer is
	 * deleted again. The timer of the provider may be closed too, so that the JVM's own
	 * timer looks at the nodes; it runs nothing that blocks.
	 */
	private void cleanUp(Session last) {
		this.lockNodes.expireLeases();
		if (!last.hasEnded() && this.lockNodes.isEmpty() && (isDecided() || !last.isAlive())) {
			leave(last);
		}
		if (last.hasEnded()) {
			this.lockNodes.unshare();
			return;
		}
		// An acquire without an answer could take another provider's node for its own.
		this.undecided.retryDue(!this.registration.isReplaced());
		if (last.isConnected()) {
			this.releases.retryEnd();
			this.queueEntries.retryDeletions(last);
		}
		CompletableFuture.delayedExecutor(CLEAN_UP_PAUSE_MILLIS, TimeUnit.MILLISECONDS, Runnable::run)
			.execute(() -> cleanUp(last));
	}

	/** Returns whether each command is known to have ended. */
	private boolean isDecided() {
		return this.undecided.size() == 0 && !this.releases.hasReservations() && !this.queueEntries.hasDeletions();
	}

	/** Deletes the process node, unless another provider uses it. */
	private void leave(Session last) {
		last.end();
		if (!this.registration.isReplaced()) {
			last.operations().delete(this.paths.process(last.id()), -1).whenComplete((deleted, failure) -> {
				if (failure != null) {
					logger.debug("The process node ends with the session", failure);
				}
			});
		}
	}

	/** Listener that passes the events of sessions to the components. */
	private final class SessionEvents implements SessionListener {

		@Override
		public void connected(Session session) {
			ZooKeeperLockProvider.this.undecided.retry(session);
			ZooKeeperLockProvider.this.queueEntries.retry(session);
			// A watch whose answer was lost is not set.
			ZooKeeperLockProvider.this.unlockRequests.watch(session);
		}

		@Override
		public void ended(Session session) {
			ZooKeeperLockProvider.this.lockNodes.removeAll(session);
			ZooKeeperLockProvider.this.undecided.completeAll(session);
			ZooKeeperLockProvider.this.queueEntries.removeAll(session);
		}

	}

}
