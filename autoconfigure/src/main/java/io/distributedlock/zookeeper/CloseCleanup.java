package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.distributedlock.zookeeper.node.LockNodeRegistry;
import io.distributedlock.zookeeper.session.Session;

/**
 * Nodes that remain when their provider is closed.
 * <p>
 * A lock that is held can be released by its holder, or ends with its lease. Either
 * deletes the lock node as long as the client is open; otherwise the node ends with the
 * session. A reservation or a queue entry whose deletion has had no answer is deleted
 * again: in a client that lives on others would wait for it.
 * <p>
 * The timer of the provider may be closed too. So the JVM's own timer looks at the nodes
 * until none is left; it runs nothing that blocks.
 */
final class CloseCleanup {

	private static final Duration PAUSE = Duration.ofMillis(500);

	private final Session session;

	private final ZooKeeperContext components;

	private final BooleanSupplier replaced;

	private final Runnable released;

	/**
	 * Creates the remaining nodes of the last session.
	 * @param replaced returns whether another provider uses the session: an acquire
	 * without an answer could then take that provider's lock node for its own
	 * @param released runs once no node remains and no command is undecided, and has to
	 * end the session; must not block
	 */
	CloseCleanup(Session session, ZooKeeperContext components, BooleanSupplier replaced, Runnable released) {
		this.session = session;
		this.components = components;
		this.replaced = replaced;
		this.released = released;
	}

	/** Lets the session last as long as locks are held. */
	void begin() {
		LockNodeRegistry lockNodes = this.components.lockNodes();
		lockNodes.share();
		this.session.keepWhile(() -> !lockNodes.isEmpty());
		check();
	}

	private void check() {
		LockNodeRegistry lockNodes = this.components.lockNodes();
		lockNodes.expireLeases();
		if (!this.session.hasEnded() && lockNodes.isEmpty() && (isDecided() || !this.session.isAlive())) {
			this.released.run();
		}
		if (this.session.hasEnded()) {
			lockNodes.unshare();
			return;
		}
		retry();
		CompletableFuture.delayedExecutor(PAUSE.toNanos(), TimeUnit.NANOSECONDS, Runnable::run).execute(this::check);
	}

	/** Returns whether each command of the closed provider is known to have ended. */
	private boolean isDecided() {
		return this.components.undecided().size() == 0 && this.components.reservations().isEmpty()
				&& !this.components.queueEntries().hasDeletions();
	}

	private void retry() {
		this.components.undecided().retryDue(!this.replaced.getAsBoolean());
		if (this.session.isConnected()) {
			this.components.reservations().retryEnd();
			this.components.queueEntries().retryDeletions(this.session);
		}
	}

}
