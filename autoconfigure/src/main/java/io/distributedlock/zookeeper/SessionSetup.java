package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockException;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.ProcessLabel;

/**
 * Set-up of one session: the persistent nodes, the process node of this process, and the
 * heartbeat that writes to it. A set-up that fails is tried again.
 */
final class SessionSetup {

	private static final Log logger = LogFactory.getLog(SessionSetup.class);

	private static final Duration RETRY_PAUSE = Duration.ofSeconds(1);

	private final byte[] label = ProcessLabel.get().getBytes(StandardCharsets.UTF_8);

	private final Session session;

	private final PersistentNodes persistentNodes;

	private final LockTimer timer;

	private final Runnable changed;

	private final Heartbeat heartbeat;

	private final AtomicBoolean underWay = new AtomicBoolean();

	private volatile boolean complete;

	private volatile @Nullable LockException failure;

	/**
	 * Creates a set-up that has not begun.
	 * @param notConnectedAtNanos a moment at which the client was not connected, or
	 * {@code null} if none is known
	 * @param changed runs when the result of {@link #isReady()} may have changed; must
	 * not block
	 */
	SessionSetup(Session session, PersistentNodes persistentNodes, @Nullable Long notConnectedAtNanos, LockTimer timer,
			Runnable changed) {
		this.session = session;
		this.persistentNodes = persistentNodes;
		this.timer = timer;
		this.changed = changed;
		this.heartbeat = new Heartbeat(session, new OwnProcessNode(), notConnectedAtNanos, timer);
	}

	Session session() {
		return this.session;
	}

	/** Returns whether the session is set up, connected and proven to last. */
	boolean isReady() {
		return this.complete && this.session.isConnected() && this.session.isValid();
	}

	/** Returns the failure that another try will not mend, or {@code null}. */
	@Nullable LockException failure() {
		return this.session.isRefused() ? ZooKeeperErrors.credentialsRefused() : this.failure;
	}

	/** Starts the set-up, or sends a heartbeat where it is complete. */
	void start() {
		if (this.complete) {
			this.heartbeat.send();
		}
		else if (!this.session.hasEnded() && this.underWay.compareAndSet(false, true)) {
			createNodes().whenComplete((created, ex) -> complete(ex));
		}
	}

	private CompletableFuture<Boolean> createNodes() {
		ZooKeeperOperations operations = this.session.operations();
		return this.persistentNodes.ensureAll(operations)
			.thenCompose((ready) -> this.session.hasEnded() ? CompletableFuture.completedFuture(false)
					: this.persistentNodes.ensureProcessNode(operations, this.session.id(), this.label));
	}

	private void complete(@Nullable Throwable ex) {
		if (ex == null) {
			this.failure = null;
			this.complete = true;
			this.heartbeat.send();
		}
		else {
			logger.debug("The session could not be set up", ex);
			this.failure = ZooKeeperErrors.mayPass(ex) ? null : ZooKeeperErrors.nothingSent(ex);
		}
		this.underWay.set(false);
		this.changed.run();
		if (ex != null) {
			retryLater();
		}
	}

	private void retryLater() {
		try {
			this.timer.schedule(this::start, RETRY_PAUSE);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The timer is closed", ex);
		}
	}

	private final class OwnProcessNode implements Heartbeat.ProcessNode {

		@Override
		public CompletableFuture<Stat> write() {
			String path = SessionSetup.this.persistentNodes.paths().process(SessionSetup.this.session.id());
			return SessionSetup.this.session.operations().setData(path, SessionSetup.this.label, -1);
		}

		@Override
		public void create() {
			createNodes().whenComplete((created, ex) -> {
				if (ex != null) {
					logger.debug("The process node could not be created again", ex);
				}
			});
		}

		@Override
		public void written() {
			SessionSetup.this.changed.run();
		}

	}

}
