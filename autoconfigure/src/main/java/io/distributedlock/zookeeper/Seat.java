package io.distributedlock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.CreateMode;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.ProcessLabel;

/**
 * A session and how far its set-up has come: the tree, this process's node in it, and the
 * heartbeat that writes to that node.
 */
final class Seat {

	private static final Log logger = LogFactory.getLog(Seat.class);

	private static final Duration RETRY = Duration.ofSeconds(1);

	private final byte[] label = ProcessLabel.get().getBytes(StandardCharsets.UTF_8);

	private final Session session;

	private final Layout layout;

	private final String path;

	private final LockTimer timer;

	private final Runnable changed;

	private final Heartbeat heartbeat;

	private final AtomicBoolean settingUp = new AtomicBoolean();

	private volatile boolean setUp;

	private volatile @Nullable LockException failure;

	/**
	 * Creates a seat that is not set up.
	 * @param path this process's node
	 * @param notConnectedAt a moment at which the client was not connected, if one is
	 * known
	 * @param changed told when what may be relied upon has changed; must not block
	 */
	Seat(Session session, Layout layout, String path, @Nullable Long notConnectedAt, LockTimer timer,
			Runnable changed) {
		this.session = session;
		this.layout = layout;
		this.path = path;
		this.timer = timer;
		this.changed = changed;
		this.heartbeat = new Heartbeat(session, path, this.label, notConnectedAt, timer, this::layOut, changed);
	}

	Session session() {
		return this.session;
	}

	boolean isReady() {
		return this.setUp && this.session.isConnected() && this.session.isValid(System.nanoTime());
	}

	/** Why it cannot be relied upon, where waiting does not help. */
	@Nullable LockException failure() {
		return this.session.isRefused() ? LockProviderException.nothingSent(LockError.NOT_PERMITTED,
				ZooKeeperErrors.PROVIDER, "refuses this client's credentials", null) : this.failure;
	}

	/** Sets it up, or beats. */
	void begin() {
		if (this.setUp) {
			this.heartbeat.beat();
		}
		else if (!this.session.hasEnded() && this.settingUp.compareAndSet(false, true)) {
			layOut().whenComplete((ready, ex) -> end(ex));
		}
	}

	/** The tree, and this process's node in it, whatever of them is missing. */
	private CompletableFuture<Boolean> layOut() {
		Calls calls = this.session.calls();
		return this.layout.ensure(calls)
			.thenCompose((ready) -> this.session.hasEnded() ? CompletableFuture.completedFuture(false)
					: this.layout.ensure(calls, this.path, this.label, CreateMode.EPHEMERAL));
	}

	private void end(@Nullable Throwable ex) {
		if (ex == null) {
			this.failure = null;
			this.setUp = true;
			this.heartbeat.beat();
		}
		else {
			logger.debug("The session could not be set up", ex);
			this.failure = ZooKeeperErrors.mayPass(ex) ? null : ZooKeeperErrors.nothingSent(ex);
		}
		this.settingUp.set(false);
		this.changed.run();
		if (ex != null) {
			again();
		}
	}

	private void again() {
		try {
			this.timer.schedule(this::begin, RETRY);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The timer has ended with the application", ex);
		}
	}

}
