package io.distributedlock.zookeeper.session;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockException;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.ProcessLabel;

/**
 * Set-up of one session: the persistent nodes, the process node of this process, the
 * heartbeat that writes to it, and a watch. A set-up that fails is tried again.
 * <p>
 * The watch is for the data of the root, which does not change. ZooKeeper's client
 * notifies each watch of the end of its own handle and of each of its connections; there
 * is no other notification that belongs to one handle and always arrives.
 */
final class SessionSetup implements Watcher {

	private static final Log logger = LogFactory.getLog(SessionSetup.class);

	private static final Duration RETRY_PAUSE = Duration.ofSeconds(1);

	/**
	 * The least time between two tries of which a lost connection has ended the first.
	 */
	private static final Duration RECONNECT_PAUSE = Duration.ofMillis(50);

	/** Each try costs a connection, which the application may use too. */
	private static final Duration OLD_SERVER_PAUSE = Duration.ofSeconds(30);

	private final byte[] label = ProcessLabel.get().getBytes(StandardCharsets.UTF_8);

	private final Session session;

	private final PersistentNodes persistentNodes;

	private final LockTimer timer;

	private final Runnable changed;

	private final Consumer<Session> setUp;

	private final Heartbeat heartbeat;

	private final AtomicBoolean underWay = new AtomicBoolean();

	private volatile boolean complete;

	private volatile @Nullable LockException failure;

	/** Whether the failure was an answer after which the server closes the connection. */
	private volatile boolean disconnected;

	/**
	 * Creates a set-up that has not begun.
	 * @param beforeSessionNanos a moment before the session began, or {@code null} if
	 * none is known
	 * @param changed runs when the result of {@link #isReady()} may have changed; must
	 * not block
	 * @param setUp receives the session each time its nodes were created; must not block
	 */
	SessionSetup(Session session, PersistentNodes persistentNodes, @Nullable Long beforeSessionNanos, LockTimer timer,
			Runnable changed, Consumer<Session> setUp) {
		this.session = session;
		this.persistentNodes = persistentNodes;
		this.timer = timer;
		this.changed = changed;
		this.setUp = setUp;
		this.heartbeat = new Heartbeat(session, this::writeProcessNode, this::written, beforeSessionNanos, timer);
	}

	Session session() {
		return this.session;
	}

	/** Returns whether the session is set up, connected and proven to last. */
	boolean isReady() {
		return this.complete && this.session.isConnected() && this.session.isValid();
	}

	/**
	 * Returns the last known moment at which the client's handle was open, or
	 * {@code null}.
	 */
	@Nullable Long openNanos() {
		return this.heartbeat.openNanos();
	}

	/** Returns the failure that another try will not mend, or {@code null}. */
	@Nullable LockException failure() {
		return this.session.isRefused() ? ZooKeeperErrors.credentialsRefused() : this.failure;
	}

	/** Starts the set-up, or sends a heartbeat where it is complete. */
	void start() {
		this.session.readTimeout();
		if (this.complete) {
			this.heartbeat.send();
		}
		else if (!this.session.hasEnded() && this.underWay.compareAndSet(false, true)) {
			Deadline pause = Deadline.after(RECONNECT_PAUSE);
			createNodes().whenComplete((created, ex) -> complete(pause, ex));
		}
	}

	private CompletableFuture<Boolean> createNodes() {
		ZooKeeperOperations operations = this.session.operations();
		return this.persistentNodes.ensureAll(operations)
			.thenCompose(
					(ready) -> this.session.hasEnded() ? CompletableFuture.completedFuture(false) : createProcessNode())
			.thenCompose((ready) -> this.session.hasEnded() ? CompletableFuture.completedFuture(false)
					: operations.read(this.persistentNodes.paths().root(), this).thenApply((root) -> true))
			.exceptionallyCompose(
					(ex) -> ZooKeeperErrors.is(ex, Code.NOAUTH) ? explain(ex) : CompletableFuture.failedFuture(ex))
			.whenComplete((created, ex) -> {
				if (ex == null) {
					this.setUp.accept(this.session);
				}
			});
	}

	@Override
	public void process(WatchedEvent event) {
		if (event.getType() != Event.EventType.None) {
			recreateNodes();
			return;
		}
		switch (event.getState()) {
			case Closed, Expired -> this.session.handleClosed();
			case AuthFailed -> {
				// A client without a login goes on without one, in the same session.
				if (this.session.isRefused()) {
					this.session.handleClosed();
				}
			}
			case SyncConnected -> {
				this.session.readTimeout();
				if (this.complete) {
					this.heartbeat.send();
				}
			}
			default -> logger.debug("The client of the session has told: " + event);
		}
	}

	/** Creates what was deleted by hand, and watches the root again. */
	private void recreateNodes() {
		createNodes().whenComplete((created, ex) -> {
			if (ex != null) {
				logger.debug("The nodes of the session could not be created again", ex);
				if (!ZooKeeperErrors.mayPass(ex)) {
					failed(ex);
					if (this.failure instanceof LockConfigurationException && this.complete) {
						// As at start: no lock is granted until another try succeeds.
						// Each heartbeat may fail so, but one of them begins the tries.
						this.complete = false;
						this.timer.scheduleIfOpen(this::start, RETRY_PAUSE.toNanos());
					}
					this.changed.run();
				}
			}
		});
	}

	/** Ends the heartbeat, but not the session. */
	void close() {
		this.heartbeat.close();
	}

	private CompletableFuture<Boolean> createProcessNode() {
		return this.persistentNodes.ensureProcessNode(this.session.operations(), this.session.id(), this.label);
	}

	/**
	 * Explains a missing permission: nodes that belong to their creator are forbidden to
	 * a client without an identity, which servers tell only a client that creates one.
	 */
	private CompletableFuture<Boolean> explain(Throwable refusal) {
		return createProcessNode().handle((created, ex) -> {
			throw new CompletionException(ZooKeeperErrors.is(ex, Code.INVALIDACL) ? ex : refusal);
		});
	}

	private void complete(Deadline reconnectPause, @Nullable Throwable ex) {
		if (ex == null) {
			this.disconnected = false;
			this.failure = null;
			this.complete = true;
			this.heartbeat.send();
		}
		else {
			logger.debug("The session could not be set up", ex);
			failed(ex);
		}
		// A new connection starts no other try where the last one was closed for it.
		boolean wait = ZooKeeperErrors.closesConnection(ex);
		this.underWay.set(wait);
		this.changed.run();
		if (ex != null && !this.session.isAlive()) {
			this.session.end();
		}
		else if (wait) {
			this.timer.scheduleIfOpen(() -> {
				this.underWay.set(false);
				start();
			}, ZooKeeperErrors.is(ex, Code.UNIMPLEMENTED) ? OLD_SERVER_PAUSE.toNanos() : RETRY_PAUSE.toNanos());
		}
		else if (ZooKeeperErrors.is(ex, Code.CONNECTIONLOSS)) {
			// Before the client has reconnected, so that the try begins the next
			// connection: a server that refuses the client answers only the first
			// request.
			this.timer.scheduleIfOpen(this::start, reconnectPause.remainingNanos());
		}
		else if (ex != null) {
			this.timer.scheduleIfOpen(this::start, RETRY_PAUSE.toNanos());
		}
	}

	/** Records a failure. */
	private void failed(Throwable ex) {
		boolean passes = ZooKeeperErrors.mayPass(ex);
		if (passes && this.disconnected) {
			// The refusal of another request may have closed the connection.
			return;
		}
		this.disconnected = ZooKeeperErrors.closesConnection(ex);
		this.failure = passes ? null : ZooKeeperErrors.ofSetup(ex);
	}

	private CompletableFuture<Stat> writeProcessNode() {
		String path = this.persistentNodes.paths().process(this.session.id());
		return this.session.operations().setData(path, this.label, -1).whenComplete((stat, ex) -> {
			if (ZooKeeperErrors.is(ex, Code.NONODE)) {
				recreateNodes();
			}
			else if (ZooKeeperErrors.closesConnection(ex)) {
				// The servers refuse a client whose session was set up before.
				failed(ex);
				this.changed.run();
			}
		});
	}

	private void written() {
		if (this.complete) {
			this.disconnected = false;
			this.failure = null;
		}
		this.changed.run();
	}

}
