package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;

/**
 * What was sent and not answered: creates that may have put up a door for nobody, and
 * releases. While the connection stands their answers still come; when it was lost, the
 * door is looked for behind a {@code sync}, and taken down if it is that of the lost
 * command. What a session left is gone with it.
 */
final class Leftovers {

	private static final Log logger = LogFactory.getLog(Leftovers.class);

	private static final Duration RETRY = Duration.ofMillis(500);

	private static final int MOST_DOUBLINGS = 6;

	private final Set<Leftover> open = ConcurrentHashMap.newKeySet();

	/** Whose doors were taken down while nobody waited for that. */
	private final ReleasedOwners released = new ReleasedOwners();

	private final Doors doors;

	private final GiveBack giveBack;

	private final LockTimer timer;

	Leftovers(Doors doors, GiveBack giveBack, LockTimer timer) {
		this.doors = doors;
		this.giveBack = giveBack;
		this.timer = timer;
	}

	/** A door is being given back by nobody who waits for it. */
	void released(Door door, CompletableFuture<Boolean> sent) {
		Leftover leftover = new Leftover(door.key(), door.owner(), door.session(), door.path(), door.czxid());
		this.open.add(leftover);
		sent.whenComplete((found, failure) -> {
			if (failure == null) {
				end(leftover, found ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD);
			}
			else {
				again(leftover, failure);
			}
		});
	}

	/**
	 * A lock was asked for by somebody who has left.
	 * @param sent gives the {@code czxid} of the door that was put up, or 0
	 */
	void abandoned(LockKey key, OwnerId owner, Session session, LockPath path, CompletableFuture<Long> sent) {
		Leftover leftover = new Leftover(key, owner, session, path, 0);
		this.open.add(leftover);
		sent.whenComplete((czxid, failure) -> {
			if (failure != null && !ZooKeeperErrors.isUnclear(failure)) {
				end(leftover, ReleaseOutcome.NOT_HELD);
			}
			else if (failure != null) {
				again(leftover, failure);
			}
			else if (czxid > 0) {
				takeDown(leftover, czxid, GiveBack.HELD);
			}
			else {
				end(leftover, ReleaseOutcome.NOT_HELD);
			}
		});
	}

	private @Nullable CompletableFuture<ReleaseOutcome> of(LockKey key, OwnerId owner) {
		for (Leftover leftover : this.open) {
			if (leftover.owner.equals(owner) && leftover.key.equals(key)) {
				return leftover.end;
			}
		}
		return null;
	}

	/** Waits for the end of what is still under way for an owner. */
	ReleaseOutcome await(LockKey key, OwnerId owner, long deadline) {
		CompletableFuture<ReleaseOutcome> left = of(key, owner);
		if (left == null) {
			return this.released.remove(owner) ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD;
		}
		try {
			ReleaseOutcome outcome = left.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
			this.released.remove(owner);
			return outcome;
		}
		catch (ExecutionException | TimeoutException ex) {
			return ReleaseOutcome.UNKNOWN;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return ReleaseOutcome.UNKNOWN;
		}
	}

	/** What has to end before the key is asked for again, or {@code null}. */
	@Nullable CompletableFuture<ReleaseOutcome> of(LockKey key) {
		if (!this.open.isEmpty()) {
			for (Leftover leftover : this.open) {
				if (leftover.key.equals(key)) {
					return leftover.end;
				}
			}
		}
		return null;
	}

	int size() {
		return this.open.size();
	}

	void drop(Session session) {
		for (Leftover leftover : this.open) {
			if (leftover.session == session) {
				end(leftover, ReleaseOutcome.NOT_HELD);
			}
		}
	}

	private void end(Leftover leftover, ReleaseOutcome outcome) {
		if (outcome == ReleaseOutcome.RELEASED) {
			this.released.add(leftover.owner);
		}
		if (this.open.remove(leftover)) {
			leftover.end.complete(outcome);
		}
	}

	private void again(Leftover leftover, Throwable failure) {
		if (leftover.session.hasEnded() || ZooKeeperErrors.isSessionOver(failure)) {
			// Whether the release or the end of the session was first, nobody knows.
			end(leftover, ReleaseOutcome.NOT_HELD);
			return;
		}
		logger.debug("Whether a door of '" + leftover.key + "' stands is not known yet", failure);
		leftover.due.set(true);
		later(leftover);
	}

	private void later(Leftover leftover) {
		Duration pause = RETRY.multipliedBy(1L << Math.min(leftover.tries.getAndIncrement(), MOST_DOUBLINGS));
		try {
			this.timer.schedule(() -> resolve(leftover), pause);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The timer has ended with the application: what is left ends with the session", ex);
		}
	}

	/** The connection is back. */
	void resolve(Session session) {
		for (Leftover leftover : this.open) {
			if (leftover.session == session) {
				leftover.tries.set(0);
				resolve(leftover);
			}
		}
	}

	private void resolve(Leftover leftover) {
		if (!this.open.contains(leftover) || !leftover.due.compareAndSet(true, false)) {
			return;
		}
		if (!leftover.session.isConnected()) {
			leftover.due.set(true);
			later(leftover);
			return;
		}
		Calls calls = leftover.session.calls();
		CompletableFuture<Boolean> synced = calls.sync(leftover.path.door());
		CompletableFuture<Node> read = calls.read(leftover.path.door(), null);
		synced.thenCombine(read, (ready, node) -> node).whenComplete((node, failure) -> {
			if (node != null) {
				look(leftover, node);
			}
			else if (ZooKeeperErrors.is(failure, Code.NONODE)) {
				end(leftover, leftover.gone());
			}
			else if (failure != null) {
				again(leftover, failure);
			}
		});
	}

	private void look(Leftover leftover, Node node) {
		boolean own = node.isOf(leftover.session) && ((leftover.czxid != 0) ? node.stat().getCzxid() == leftover.czxid
				: node.version() < GiveBack.RESERVED && !this.doors.holds(leftover.key, node));
		if (own) {
			takeDown(leftover, node.stat().getCzxid(), node.version());
		}
		else {
			end(leftover, leftover.gone());
		}
	}

	private void takeDown(Leftover leftover, long czxid, int version) {
		leftover.czxid = czxid;
		Door door = new Door(leftover.key, leftover.path, leftover.owner, leftover.session, czxid, Duration.ZERO);
		if (version == GiveBack.RESERVED) {
			this.giveBack.endLater(door, Duration.ZERO);
			end(leftover, ReleaseOutcome.RELEASED);
			return;
		}
		this.giveBack.start(door).whenComplete((found, failure) -> {
			if (failure == null) {
				end(leftover, ReleaseOutcome.RELEASED);
			}
			else {
				again(leftover, failure);
			}
		});
	}

	/** A command whose effect is not known. */
	private static final class Leftover {

		private final LockKey key;

		private final OwnerId owner;

		private final Session session;

		private final LockPath path;

		private final CompletableFuture<ReleaseOutcome> end = new CompletableFuture<>();

		/** The door, as far as it is known. */
		private volatile long czxid;

		/** Whether nothing is under way for it. */
		private final AtomicBoolean due = new AtomicBoolean();

		private final AtomicInteger tries = new AtomicInteger();

		private Leftover(LockKey key, OwnerId owner, Session session, LockPath path, long czxid) {
			this.key = key;
			this.owner = owner;
			this.session = session;
			this.path = path;
			this.czxid = czxid;
		}

		/** A door that was known to be ours is gone because we have sent that. */
		private ReleaseOutcome gone() {
			return (this.czxid != 0) ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD;
		}

	}

}
