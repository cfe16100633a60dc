package io.distributedlock.zookeeper.session;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.CuratorListener;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.framework.listen.Listenable;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;

/**
 * Tracker of the client's sessions. It returns only a session in which this process's
 * node exists and which is proven to last. A caller uses one session for all requests
 * that belong together, whatever session the client has by then.
 */
public final class SessionTracker implements ConnectionStateListener, AutoCloseable {

	private static final Log logger = LogFactory.getLog(SessionTracker.class);

	private final CuratorFramework client;

	private final ZooKeeperLockSettings settings;

	private final PersistentNodes persistentNodes;

	private final HandleReplacement replacement;

	private final LockTimer timer;

	private final SessionListener listener;

	/** Listens for refused credentials, for which Curator has no connection state. */
	private final CuratorListener refusals = (source, event) -> {
		WatchedEvent watched = event.getWatchedEvent();
		if (watched != null && watched.getState() == KeeperState.AuthFailed) {
			refused();
		}
	};

	private final ReentrantLock lock = new ReentrantLock();

	/** The waits of calls that have found no session. */
	private final Set<CompletableFuture<Session>> waiting = ConcurrentHashMap.newKeySet();

	private volatile @Nullable SessionSetup setup;

	/** A moment before the present session began, if one is known. */
	private @Nullable Long beforeSessionNanos;

	private volatile boolean closed;

	private volatile @Nullable Session last;

	/**
	 * Creates a tracker that has not started.
	 * @param client the client, whose lifecycle belongs to the caller
	 */
	public SessionTracker(CuratorFramework client, ZooKeeperLockSettings settings, NodePaths paths, LockTimer timer,
			SessionListener listener) {
		this.client = client;
		this.settings = settings;
		this.persistentNodes = new PersistentNodes(paths);
		this.replacement = new HandleReplacement(client, settings, timer, this::needsHandle, this::adopt);
		this.timer = timer;
		this.listener = listener;
	}

	/** Starts to track the client's sessions. */
	public void start() {
		long now = System.nanoTime();
		if (this.client.getState() == CuratorFrameworkState.LATENT) {
			this.beforeSessionNanos = now;
		}
		boolean connected = this.client.getZookeeperClient().isConnected();
		this.client.getConnectionStateListenable().addListener(this);
		changeRefusalListener((listeners) -> listeners.addListener(this.refusals));
		if (connected || this.client.getZookeeperClient().isConnected() || wasRefused()) {
			adopt();
		}
	}

	/**
	 * Changes the listeners of the client. A client with a namespace has none: there the
	 * watch of the session notices a refusal.
	 */
	private void changeRefusalListener(Consumer<Listenable<CuratorListener>> change) {
		try {
			change.accept(this.client.getCuratorListenable());
		}
		catch (UnsupportedOperationException ex) {
			logger.debug("The client has no listeners for its events", ex);
		}
	}

	/** Returns whether the servers refused the client before it was tracked. */
	private boolean wasRefused() {
		try {
			return this.client.getZookeeperClient().getZooKeeper().getState() == ZooKeeper.States.AUTH_FAILED;
		}
		catch (Exception ex) {
			logger.debug("The client has no session yet", ex);
			return false;
		}
	}

	public PersistentNodes persistentNodes() {
		return this.persistentNodes;
	}

	@Override
	public void stateChanged(CuratorFramework source, ConnectionState state) {
		SessionSetup current = this.setup;
		if (state == ConnectionState.CONNECTED || state == ConnectionState.RECONNECTED) {
			adopt();
		}
		else if (state == ConnectionState.LOST && current != null && !current.session().isAlive()) {
			// The client may have lost another session, before or after the present one.
			current.session().handleClosed();
		}
	}

	private void refused() {
		adopt();
		SessionSetup current = this.setup;
		if (current == null) {
			// The refused handle is not to be had at present.
			this.replacement.start();
		}
		else if (current.session().isRefused()) {
			current.session().end();
		}
	}

	/** Returns whether there is no session that may last. */
	private boolean needsHandle() {
		SessionSetup current = this.setup;
		return !this.closed && (current == null || current.session().hasEnded());
	}

	private void adopt() {
		ZooKeeper handle;
		try {
			handle = this.client.getZookeeperClient().getZooKeeper();
		}
		catch (Exception ex) {
			logger.debug("The client has no session yet", ex);
			return;
		}
		SessionSetup current;
		Session replaced = null;
		boolean fresh;
		this.lock.lock();
		try {
			SessionSetup before = this.setup;
			if (this.closed || !mayAdopt(handle, (before != null) ? before.session() : null)) {
				return;
			}
			fresh = before == null || !before.session().isOf(handle);
			if (fresh && before != null) {
				replaced = before.session();
				this.beforeSessionNanos = before.openNanos();
			}
			current = (before == null || fresh) ? newSetup(handle) : before;
			this.setup = current;
		}
		finally {
			this.lock.unlock();
		}
		if (replaced != null) {
			// Outside the lock, since calls of the old session go on from here.
			replaced.end();
			FormerSession.end(replaced, current.session(), this.client);
		}
		if (fresh) {
			current.session().onEnded(() -> ended(current));
			if (current.session().isRefused()) {
				current.session().end();
			}
		}
		current.start();
		if (!fresh) {
			this.listener.connected(current.session());
		}
		signal();
	}

	/**
	 * Returns whether a handle has a session, or has none because it was refused, and is
	 * not that of a session that has ended.
	 */
	private static boolean mayAdopt(ZooKeeper handle, @Nullable Session before) {
		if (handle.getState() == ZooKeeper.States.AUTH_FAILED) {
			return before == null || before.zooKeeper() != handle;
		}
		return handle.getState().isAlive() && handle.getSessionId() != 0
				&& (before == null || !before.hasEnded() || !before.isOf(handle));
	}

	private SessionSetup newSetup(ZooKeeper handle) {
		int pathOverhead = this.persistentNodes.paths()
			.overhead(this.client.getZookeeperClient().getCurrentConnectionString());
		Session session = new Session(handle, this.settings.acl(), pathOverhead, this.settings.longestSilence(),
				this.timer);
		return new SessionSetup(session, this.persistentNodes, this.beforeSessionNanos, this.timer, this::signal,
				this.listener::setUp);
	}

	private void ended(SessionSetup ended) {
		this.listener.ended(ended.session());
		signal();
		this.replacement.start();
	}

	/** Returns the present session if it is ready, without waiting, or {@code null}. */
	public @Nullable Session present() {
		SessionSetup current = this.setup;
		return (current != null && current.isReady()) ? current.session() : null;
	}

	/**
	 * Returns the present session as soon as it is ready.
	 * @return completes with the session, or fails with a {@link LockException} that a
	 * longer wait will not mend; has to be cancelled by who does not wait any more
	 */
	@SuppressWarnings("CollectionUndefinedEquality") // a future equals only itself
	public CompletableFuture<Session> ready() {
		if (!this.closed) {
			startIfLatent();
		}
		CompletableFuture<Session> ready = new CompletableFuture<>();
		this.waiting.add(ready);
		ready.whenComplete((session, failure) -> this.waiting.remove(ready));
		end(ready);
		return ready;
	}

	/**
	 * Starts a client that serves locks alone, which connects from then on. The
	 * application starts any other client.
	 */
	private void startIfLatent() {
		if (this.settings.exclusive() && this.client.getState() == CuratorFrameworkState.LATENT) {
			try {
				this.client.start();
			}
			catch (IllegalStateException ex) {
				logger.debug("Another thread has started the client", ex);
			}
		}
	}

	private void signal() {
		this.waiting.forEach(this::end);
	}

	/** Ends a wait if the session is ready, or will not be. */
	private void end(CompletableFuture<Session> ready) {
		SessionSetup current = this.setup;
		LockException failure = (current != null) ? current.failure() : null;
		if (current != null && current.isReady()) {
			ready.complete(current.session());
		}
		else if (failure != null) {
			ready.completeExceptionally(failure);
		}
		else if (this.closed) {
			ready.completeExceptionally(notReady());
		}
	}

	/**
	 * Waits until the present session is ready.
	 * @param deadline the end of the wait
	 * @throws LockException if no session is ready in time; nothing was sent
	 */
	public Session awaitReady(Deadline deadline) {
		CompletableFuture<Session> ready = ready();
		try {
			return ready.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw ZooKeeperErrors.failureOf(ex);
		}
		catch (TimeoutException ex) {
			throw notReady();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw LockProviderException.nothingSent(LockError.STORE_FAILED, ZooKeeperErrors.PROVIDER,
					"did not answer before the thread was interrupted", ex);
		}
		finally {
			ready.cancel(false);
		}
	}

	/** Returns the failure of a call that has waited in vain; nothing was sent. */
	public LockException notReady() {
		SessionSetup current = this.setup;
		LockException failure = (current != null && !this.closed) ? current.failure() : null;
		if (failure != null) {
			return failure;
		}
		String problem = this.closed ? "is closed"
				: (this.client.getState() != CuratorFrameworkState.STARTED)
						? "cannot be reached: the CuratorFramework was not started"
						: (current != null && current.session().isConnected())
								? ZooKeeperErrors.notProven(current.session().grantedTimeoutNanos())
								: "is not connected";
		LockError error = this.closed ? LockError.SHUTTING_DOWN : LockError.STORE_TIMEOUT;
		return LockProviderException.nothingSent(error, ZooKeeperErrors.PROVIDER, problem, null);
	}

	/**
	 * Stops tracking; the client stays open. The last session sends no heartbeat any
	 * more, but does not end.
	 */
	@Override
	public void close() {
		this.client.getConnectionStateListenable().removeListener(this);
		changeRefusalListener((listeners) -> listeners.removeListener(this.refusals));
		this.lock.lock();
		try {
			this.closed = true;
			if (this.setup != null) {
				this.setup.close();
				this.last = this.setup.session();
			}
			this.setup = null;
		}
		finally {
			this.lock.unlock();
		}
		signal();
		this.replacement.close();
	}

	/** Returns the session that lasted at the close, or {@code null}. */
	public @Nullable Session last() {
		return this.last;
	}

}
