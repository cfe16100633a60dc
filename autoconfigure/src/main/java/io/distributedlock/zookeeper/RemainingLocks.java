package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Locks that are held while their provider is closed. Their holders can release them, and
 * the leases of the others end; the end is a delete of the lock node as long as the
 * client is open, and otherwise the end of the session.
 * <p>
 * The timer of the provider may be closed too. So the JVM's own timer looks at them until
 * none is left; it runs nothing that blocks.
 */
final class RemainingLocks {

	private static final Duration PAUSE = Duration.ofMillis(500);

	private final Session session;

	private final LockNodeRegistry lockNodes;

	private final UndecidedCommands undecided;

	private final BooleanSupplier replaced;

	private final Runnable released;

	/**
	 * Creates the remaining locks of the last session.
	 * @param replaced returns whether another provider uses the session: an acquire
	 * without an answer could then take that provider's lock node for its own
	 * @param released runs once no lock is held and no command is undecided, and has to
	 * end the session; must not block
	 */
	RemainingLocks(Session session, LockNodeRegistry lockNodes, UndecidedCommands undecided, BooleanSupplier replaced,
			Runnable released) {
		this.session = session;
		this.lockNodes = lockNodes;
		this.undecided = undecided;
		this.replaced = replaced;
		this.released = released;
	}

	/** Lets the session last as long as locks are held. */
	void begin() {
		this.lockNodes.share();
		this.session.keepWhile(() -> !this.lockNodes.isEmpty());
		look();
	}

	private void look() {
		this.lockNodes.expireLeases();
		if (!this.session.hasEnded() && this.lockNodes.isEmpty()
				&& (this.undecided.size() == 0 || !this.session.isAlive())) {
			this.released.run();
		}
		if (this.session.hasEnded()) {
			this.lockNodes.unshare();
			return;
		}
		this.undecided.retryDue(!this.replaced.getAsBoolean());
		CompletableFuture.delayedExecutor(PAUSE.toNanos(), TimeUnit.NANOSECONDS, Runnable::run).execute(this::look);
	}

}
