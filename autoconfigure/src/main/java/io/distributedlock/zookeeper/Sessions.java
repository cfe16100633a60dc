package io.distributedlock.zookeeper;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.CuratorListener;
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
import io.distributedlock.provider.LockTimer;

/**
 * Follows the client from session to session. Hands out only a session in which this
 * process's node stands and which is proven to last; who asks keeps it for all that
 * belongs together, whatever session the client has by then.
 */
final class Sessions implements ConnectionStateListener, AutoCloseable {

	private static final Log logger = LogFactory.getLog(Sessions.class);

	private final CuratorFramework client;

	private final ZooKeeperLockSettings settings;

	private final LockPaths paths;

	private final Layout layout;

	private final Replacement replacement;

	private final LockTimer timer;

	private final Consumer<Session> connected;

	private final Consumer<Session> ended;

	/** Curator knows no state of a connection that says so. */
	private final CuratorListener refusals = (source, event) -> {
		WatchedEvent told = event.getWatchedEvent();
		if (told != null && told.getState() == KeeperState.AuthFailed) {
			refused();
		}
	};

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private volatile @Nullable Seat seat;

	/**
	 * The last moment at which the present session was not connected, if one is known.
	 */
	private @Nullable Long notConnectedAt;

	private volatile boolean closed;

	/**
	 * Creates the sessions of a client.
	 * @param connected told of a session whose connection came back; must not block
	 * @param ended told of a session that has ended; must not block
	 */
	Sessions(CuratorFramework client, ZooKeeperLockSettings settings, LockPaths paths, LockTimer timer,
			Consumer<Session> connected, Consumer<Session> ended) {
		this.client = client;
		this.settings = settings;
		this.paths = paths;
		this.layout = new Layout(paths);
		this.replacement = new Replacement(client, settings.exclusive(), timer, this.lock, this::adopt);
		this.timer = timer;
		this.connected = connected;
		this.ended = ended;
	}

	/** Begins to follow the client. */
	void start() {
		long now = System.nanoTime();
		boolean present = this.client.getZookeeperClient().isConnected();
		this.notConnectedAt = present ? null : now;
		this.client.getConnectionStateListenable().addListener(this);
		listenToRefusals((listeners) -> listeners.addListener(this.refusals));
		if (present || this.client.getZookeeperClient().isConnected() || wasRefused()) {
			adopt();
		}
	}

	/** With a namespace of Curator's, a refusal is noticed by the next call alone. */
	private void listenToRefusals(Consumer<Listenable<CuratorListener>> change) {
		try {
			change.accept(this.client.getCuratorListenable());
		}
		catch (UnsupportedOperationException ex) {
			logger.debug("The client tells nobody of its events", ex);
		}
	}

	/** Of that nothing is told any more. */
	private boolean wasRefused() {
		try {
			return this.client.getZookeeperClient().getZooKeeper().getState() == ZooKeeper.States.AUTH_FAILED;
		}
		catch (Exception ex) {
			logger.debug("The client has no session yet", ex);
			return false;
		}
	}

	Layout layout() {
		return this.layout;
	}

	@Override
	public void stateChanged(CuratorFramework source, ConnectionState state) {
		Seat current = this.seat;
		if (state == ConnectionState.CONNECTED || state == ConnectionState.RECONNECTED) {
			adopt();
		}
		else if (state == ConnectionState.LOST && current != null) {
			current.session().end();
		}
	}

	private void refused() {
		adopt();
		Seat current = this.seat;
		if (current != null && current.session().isRefused()) {
			current.session().end();
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
		Seat current;
		boolean fresh;
		this.lock.lock();
		try {
			Seat before = this.seat;
			boolean refused = handle.getState() == ZooKeeper.States.AUTH_FAILED;
			if (this.closed || (handle.getSessionId() == 0 && !refused)
					|| (refused && before != null && before.session().zooKeeper() == handle)) {
				return;
			}
			fresh = before == null || before.session().hasEnded() || !before.session().isOf(handle);
			if (fresh && before != null) {
				before.session().end();
				this.notConnectedAt = before.session().lastAnswer();
			}
			current = (before == null || fresh) ? newSeat(handle) : before;
			this.seat = current;
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
		if (fresh) {
			current.session().onShortened(() -> ended(current));
			if (current.session().isRefused()) {
				current.session().end();
			}
		}
		current.begin();
		if (!fresh) {
			this.connected.accept(current.session());
		}
	}

	private Seat newSeat(ZooKeeper handle) {
		Session session = new Session(handle, this.settings.acl(), this.settings.longestSilence());
		return new Seat(session, this.layout, this.paths.process(session.id()), this.notConnectedAt, this.timer,
				this::signal);
	}

	private void ended(Seat seat) {
		this.ended.accept(seat.session());
		if (seat.session().isRefused()) {
			this.replacement.start(() -> !this.closed && this.seat == seat);
		}
	}

	/** The present session if it can be relied upon, without waiting. */
	@Nullable Session present() {
		Seat current = this.seat;
		return (current != null && current.isReady()) ? current.session() : null;
	}

	/**
	 * The present session, once it can be relied upon.
	 * @param deadline until when to wait for that
	 * @throws LockProviderException if there is none; nothing was sent
	 */
	Session ready(long deadline) {
		Session present = present();
		return (present != null) ? present : await(deadline);
	}

	private Session await(long deadline) {
		this.lock.lock();
		try {
			while (true) {
				Session present = present();
				if (present != null) {
					return present;
				}
				Seat current = this.seat;
				LockException failure = (current != null) ? current.failure() : null;
				if (failure != null) {
					throw failure;
				}
				long left = deadline - System.nanoTime();
				if (left <= 0 || this.closed) {
					throw notReady(current);
				}
				this.changed.awaitNanos(left);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw LockProviderException.nothingSent(LockError.STORE_FAILED, ZooKeeperErrors.PROVIDER,
					"was not waited for: the thread was interrupted", ex);
		}
		finally {
			this.lock.unlock();
		}
	}

	private LockProviderException notReady(@Nullable Seat current) {
		String problem = this.closed ? "is closed"
				: !this.client.isStarted() ? "cannot be reached: the CuratorFramework was not started"
						: (current != null && current.session().isConnected())
								? "has not confirmed this process's session in time" : "is not connected";
		LockError error = this.closed ? LockError.SHUTTING_DOWN : LockError.STORE_TIMEOUT;
		return LockProviderException.nothingSent(error, ZooKeeperErrors.PROVIDER, problem, null);
	}

	private void signal() {
		this.lock.lock();
		try {
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Leaves the client alone, and takes this process's node away. */
	@Override
	public void close() {
		this.client.getConnectionStateListenable().removeListener(this);
		listenToRefusals((listeners) -> listeners.removeListener(this.refusals));
		Seat last;
		this.lock.lock();
		try {
			this.closed = true;
			last = this.seat;
			this.seat = null;
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
		if (last != null && !last.session().hasEnded()) {
			// Nothing puts the node up again in a session that has ended.
			last.session().end();
			last.session().calls().delete(this.paths.process(last.session().id()), -1);
		}
	}

}
