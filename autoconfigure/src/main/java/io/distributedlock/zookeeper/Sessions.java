package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockProviderException;
import io.distributedlock.support.LockTimer;
import io.distributedlock.support.ProcessLabel;

/**
 * Follows the client from session to session. Hands out only a session in which this
 * process's node stands and which is proven to last; who asks keeps it for all that
 * belongs together, whatever session the client has by then.
 */
final class Sessions implements ConnectionStateListener, AutoCloseable {

	private static final Log logger = LogFactory.getLog(Sessions.class);

	private static final Duration RETRY = Duration.ofSeconds(1);

	private final CuratorFramework client;

	private final ZooKeeperLockSettings settings;

	private final LockPaths paths;

	private final Layout layout;

	private final Replacement replacement;

	private final LockTimer timer;

	private final Consumer<Session> connected;

	private final Consumer<Session> ended;

	private final byte[] label = ProcessLabel.get().getBytes(StandardCharsets.UTF_8);

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
		if (present || this.client.getZookeeperClient().isConnected()) {
			adopt();
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
			current.session.end();
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
			if (this.closed || handle.getSessionId() == 0 || handle.getState() == ZooKeeper.States.AUTH_FAILED) {
				return;
			}
			Seat before = this.seat;
			fresh = before == null || before.session.hasEnded() || !before.session.isOf(handle);
			if (fresh && before != null) {
				before.session.end();
				this.notConnectedAt = before.session.lastAnswer();
			}
			current = (before == null || fresh) ? new Seat(handle, this.notConnectedAt) : before;
			this.seat = current;
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
		if (fresh) {
			current.session.onShortened(() -> ended(current));
		}
		current.begin();
		if (!fresh) {
			this.connected.accept(current.session);
		}
	}

	private void ended(Seat seat) {
		this.ended.accept(seat.session);
		if (seat.session.isRefused()) {
			this.replacement.start(() -> !this.closed && this.seat == seat);
		}
	}

	/** The present session if it can be relied upon, without waiting. */
	@Nullable Session present() {
		Seat current = this.seat;
		return (current != null && current.isReady()) ? current.session : null;
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
						: (current != null && current.session.isConnected())
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
		if (last != null && !last.session.hasEnded()) {
			last.session.calls().delete(this.paths.process(last.session.id()), -1);
			last.session.end();
		}
	}

	/** A session and how far its set-up has come. */
	private final class Seat {

		private final Session session;

		private final String path;

		private final Heartbeat heartbeat;

		private boolean settingUp;

		private volatile boolean setUp;

		private volatile @Nullable LockException failure;

		private Seat(ZooKeeper handle, @Nullable Long notConnectedAt) {
			this.session = new Session(handle, Sessions.this.settings.acl(), Sessions.this.settings.exclusive());
			this.path = Sessions.this.paths.process(this.session.id());
			this.heartbeat = new Heartbeat(this.session, this.path, Sessions.this.label, notConnectedAt,
					Sessions.this.timer, Sessions.this::signal);
		}

		private boolean isReady() {
			return this.setUp && this.session.isConnected() && this.session.isValid(System.nanoTime());
		}

		/** Why it cannot be relied upon, where waiting does not help. */
		private @Nullable LockException failure() {
			return this.session.isRefused() ? LockProviderException.nothingSent(LockError.NOT_PERMITTED,
					ZooKeeperErrors.PROVIDER, "refuses this client's credentials", null) : this.failure;
		}

		private void begin() {
			if (this.setUp) {
				this.heartbeat.beat();
				return;
			}
			Sessions.this.lock.lock();
			try {
				if (this.settingUp || this.session.hasEnded()) {
					return;
				}
				this.settingUp = true;
			}
			finally {
				Sessions.this.lock.unlock();
			}
			Calls calls = this.session.calls();
			Sessions.this.layout.ensure(calls)
				.thenCompose((ready) -> Sessions.this.layout.ensure(calls, this.path, Sessions.this.label,
						CreateMode.EPHEMERAL))
				.whenComplete((ready, ex) -> end(ex));
		}

		private void end(@Nullable Throwable ex) {
			if (ex == null) {
				this.failure = null;
				this.setUp = true;
				this.heartbeat.beat();
			}
			else {
				logger.debug("The session could not be set up", ex);
				this.failure = this.session.isConnected() ? ZooKeeperErrors.nothingSent(ex) : null;
			}
			Sessions.this.lock.lock();
			try {
				this.settingUp = false;
				Sessions.this.changed.signalAll();
			}
			finally {
				Sessions.this.lock.unlock();
			}
			if (ex != null) {
				again();
			}
		}

		private void again() {
			try {
				Sessions.this.timer.schedule(this::begin, RETRY);
			}
			catch (RejectedExecutionException ex) {
				logger.debug("The timer has ended with the application", ex);
			}
		}

	}

}
