package io.distributedlock.zookeeper.session;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.curator.CuratorZookeeperClient;
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
import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.LockTimer;

/**
 * Tracker of the client's sessions. It returns only a session in which this process's
 * node exists and which is proven to last. A caller uses one session for all requests
 * that belong together, whatever session the client has by then.
 * <p>
 * After the end of a session it looks for the next handle. Curator replaces a handle
 * whose session was expired or that was reset, but reports that only if the client was
 * disconnected long enough before. It never replaces a handle whose credentials the
 * servers have refused: such a handle never connects again. This class does, unless the
 * application also uses the client. Curator may wait for the end of the former handle, so
 * that each try has a thread of its own: neither the timer nor an event thread waits.
 */
public final class SessionTracker implements ConnectionStateListener {

	private static final Log logger = LogFactory.getLog(SessionTracker.class);

	private static final Duration LOOK_PAUSE = Duration.ofMillis(200);

	/** The looks at a client that is not connected before its handle is replaced. */
	private static final int LOOKS_PER_TRY = 5;

	private static final ThreadFactory HANDLE_THREADS = LockThreads.factory("zookeeper-handle");

	private final CuratorFramework client;

	private final ZooKeeperLockSettings settings;

	private final PersistentNodes persistentNodes;

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

	/** Held while the handle is replaced: a closed client must not get another one. */
	private final ReentrantLock handleLock = new ReentrantLock();

	/** Whether the handle is not replaced any more. */
	private boolean handleKept;

	/** Whether a look at the client, or a try, is scheduled or under way. */
	private final AtomicBoolean looking = new AtomicBoolean();

	/** Used by one look at a time. */
	private int looks;

	/** The waits of calls that have found no session. */
	private final Set<CompletableFuture<Session>> waiting = ConcurrentHashMap.newKeySet();

	private volatile @Nullable SessionSetup setup;

	/** A moment before the present session began, if one is known. */
	private @Nullable Long beforeSessionNanos;

	private volatile boolean closed;

	/**
	 * Creates a tracker that has not started.
	 * @param client the client, whose lifecycle belongs to the caller
	 */
	public SessionTracker(CuratorFramework client, ZooKeeperLockSettings settings, NodePaths paths, LockTimer timer,
			SessionListener listener) {
		this.client = client;
		this.settings = settings;
		this.persistentNodes = new PersistentNodes(paths);
		this.timer = timer;
		this.listener = listener;
	}

	/** Starts to track the client's sessions. */
	public void start() {
		long now = System.nanoTime();
		if (this.client.getState() == CuratorFrameworkState.LATENT) {
			this.beforeSessionNanos = now;
		}
		this.client.getConnectionStateListenable().addListener(this);
		changeRefusalListener((listeners) -> listeners.addListener(this.refusals));
		// The client may have connected, or was refused, before it was tracked.
		adopt();
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
			startLooking();
		}
		else if (current.session().isRefused()) {
			current.session().end();
		}
	}

	/** Looks for another handle as long as there is no session that may last. */
	private void startLooking() {
		if (this.looking.compareAndSet(false, true)) {
			lookLater();
		}
	}

	private void lookLater() {
		this.timer.scheduleIfOpen(this::look, LOOK_PAUSE.toNanos());
	}

	/** Starts a try if the client has connected, or may have a refused handle. */
	private void look() {
		boolean due = ++this.looks % LOOKS_PER_TRY == 0;
		if (!needsHandle()) {
			this.looking.set(false);
			if (needsHandle()) {
				startLooking();
			}
		}
		else if (due || this.client.getZookeeperClient().isConnected()) {
			startTry();
		}
		else {
			lookLater();
		}
	}

	private boolean needsHandle() {
		SessionSetup current = this.setup;
		return !this.closed && (current == null || current.session().hasEnded())
				&& this.client.getState() != CuratorFrameworkState.STOPPED;
	}

	private void startTry() {
		try {
			HANDLE_THREADS.newThread(this::tryHandle).start();
		}
		catch (OutOfMemoryError ex) {
			logger.debug("There is no thread to replace the client's handle", ex);
			lookLater();
		}
	}

	private void tryHandle() {
		try {
			replaceRefused();
			adopt();
		}
		catch (Exception ex) {
			logger.debug("The client has no other handle yet", ex);
		}
		lookLater();
	}

	private void replaceRefused() throws Exception {
		this.handleLock.lock();
		try {
			CuratorZookeeperClient present = this.client.getZookeeperClient();
			if (this.settings.exclusive() && !this.handleKept
					&& present.getZooKeeper().getState() == ZooKeeper.States.AUTH_FAILED) {
				present.reset();
			}
		}
		finally {
			this.handleLock.unlock();
		}
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
				this.listener::connected);
	}

	private void ended(SessionSetup ended) {
		this.listener.ended(ended.session());
		signal();
		startLooking();
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
			return ZooKeeperErrors.await(ready, deadline, this::notReady);
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
		String problem = this.closed ? "is closed" : (this.client.getState() != CuratorFrameworkState.STARTED)
				? "cannot be reached: the CuratorFramework was not started"
				: (current != null && current.session().isConnected())
						? ZooKeeperErrors.notProven(current.session().grantedTimeoutNanos())
						: "is not connected to " + this.client.getZookeeperClient().getCurrentConnectionString();
		LockError error = this.closed ? LockError.SHUTTING_DOWN : LockError.STORE_TIMEOUT;
		return LockProviderException.nothingSent(error, ZooKeeperErrors.PROVIDER, problem, null);
	}

	/**
	 * Stops tracking; the client stays open. The last session sends no heartbeat any
	 * more, but does not end.
	 * @return the session that has lasted until now, or {@code null}
	 */
	public @Nullable Session close() {
		SessionSetup current;
		this.client.getConnectionStateListenable().removeListener(this);
		changeRefusalListener((listeners) -> listeners.removeListener(this.refusals));
		this.lock.lock();
		try {
			this.closed = true;
			current = this.setup;
			this.setup = null;
			if (current != null) {
				current.close();
			}
		}
		finally {
			this.lock.unlock();
		}
		signal();
		// After the replacement that is under way.
		this.handleLock.lock();
		try {
			this.handleKept = true;
		}
		finally {
			this.handleLock.unlock();
		}
		return (current != null) ? current.session() : null;
	}

}
