package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;

/**
 * This process's place in the contest for one lock. A lock that nobody has costs one
 * request; who finds it busy and waits joins the line, looks at what stands before it,
 * and asks again when that changes, or after a second.
 */
final class DoorContender implements LockContender {

	private static final Duration POLL = Duration.ofSeconds(1);

	/** For whoever is not told: the shortest time that a reservation lasts. */
	private static final Duration SOON = Duration.ofMillis(100);

	/** How often the door or the line may change under one attempt. */
	private static final int MOST_ROUNDS = 8;

	private final ZooKeeperLockProvider provider;

	private final LockKey key;

	private final LockPath path;

	/** Rises from contender to contender. */
	private final long number;

	private final Runnable changed;

	DoorContender(ZooKeeperLockProvider provider, LockKey key, LockPath path, long number, Runnable changed) {
		this.provider = provider;
		this.key = key;
		this.path = path;
		this.number = number;
		this.changed = changed;
	}

	@Override
	public AttemptResult attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout) {
		long deadline = System.nanoTime() + timeout.toNanos();
		Session session = this.provider.sessions().ready(deadline);
		Door present = this.provider.doors().find(this.key, owner);
		if (present != null) {
			return new AttemptResult.Granted(present.grant());
		}
		this.provider.warnOfShortLease(lease, session);
		Await await = new Await(session, deadline);
		awaitLeftovers(await);
		if (!session.reserve(this.path.doorBytes())) {
			throw LockProviderException.nothingSent(LockError.SESSION_FULL, ZooKeeperErrors.PROVIDER,
					"cannot hold more locks in this process's session: their paths together are longer than "
							+ Session.MOST_BYTES + " bytes",
					null);
		}
		AttemptResult attempt = null;
		try {
			attempt = ask(owner, lease, willWait, session, await);
			return attempt;
		}
		finally {
			if (!(attempt instanceof AttemptResult.Granted)) {
				session.free(this.path.doorBytes());
			}
		}
	}

	/** At most one command of a session and key may be undecided. */
	private void awaitLeftovers(Await await) {
		for (CompletableFuture<ReleaseOutcome> left = this.provider.leftovers()
			.of(this.key); left != null; left = this.provider.leftovers().of(this.key)) {
			try {
				await.result(left);
			}
			catch (LockProviderException ex) {
				throw LockProviderException.nothingSent(ex.error(), ZooKeeperErrors.PROVIDER,
						"has not yet said what became of an earlier command for the same lock", ex);
			}
		}
	}

	private AttemptResult ask(OwnerId owner, Duration lease, boolean willWait, Session session, Await await) {
		Taking taking = new Taking(this.key, this.path, owner, lease, session, this.provider.leftovers(),
				this.provider.sessions().layout(), await);
		Place place = lockPlace(session, false, await);
		boolean stands = place != null;
		if (place == null) {
			AttemptResult attempt = withoutPlace(taking, session, await);
			if (!willWait || attempt instanceof AttemptResult.Granted) {
				return attempt;
			}
		}
		else if (willWait) {
			place.takenOverBy(this.number, this.changed);
		}
		while (place == null) {
			place = lockPlace(session, true, await);
		}
		try {
			return inLine(place, taking, willWait, session, await, !stands);
		}
		finally {
			if (place.isEmpty()) {
				this.provider.places().remove(place);
			}
			place.lock().unlock();
		}
	}

	/** One that is removed while its lock is waited for is nobody's any more. */
	private @Nullable Place lockPlace(Session session, boolean make, Await await) {
		Places places = this.provider.places();
		Place place = make ? places.of(this.key, this.path, session, this.number, this.changed)
				: places.find(this.key, session);
		if (place == null) {
			return null;
		}
		lock(place, await);
		if (places.has(place)) {
			return place;
		}
		place.lock().unlock();
		return null;
	}

	private static void lock(Place place, Await await) {
		try {
			if (!place.lock().tryLock(await.deadline() - System.nanoTime(), TimeUnit.NANOSECONDS)) {
				throw LockProviderException.nothingSent(LockError.STORE_TIMEOUT, ZooKeeperErrors.PROVIDER,
						"has not yet answered an earlier request for the same lock", null);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw ZooKeeperErrors.interrupted(ex);
		}
	}

	private AttemptResult withoutPlace(Taking taking, Session session, Await await) {
		Node node = null;
		for (int round = 0; round < MOST_ROUNDS && node == null; round++) {
			Door door = taking.createDoor();
			if (door != null) {
				return granted(door);
			}
			node = await.node(session.calls().read(this.path.door(), null));
		}
		return new AttemptResult.Busy(SOON, this.provider.holders().of(node, session, await));
	}

	private AttemptResult inLine(Place place, Taking taking, boolean willWait, Session session, Await await,
			boolean asked) {
		Line line = new Line(place, this.provider.sessions().layout(), await);
		boolean refused = asked;
		Node door = null;
		for (int round = 0; round < MOST_ROUNDS; round++) {
			line.settle();
			String node = place.node();
			if (node == null) {
				Door taken = refused ? null : taking.createDoor();
				if (taken != null) {
					return granted(taken);
				}
				refused = false;
				if (willWait && line.join()) {
					continue;
				}
				door = await.node(session.calls().read(this.path.door(), null));
				if (door != null) {
					break;
				}
			}
			else if (line.findPosition(node)) {
				boolean reserved = door != null && door.version() == GiveBack.RESERVED;
				Line.Look look = line.look(node, reserved, taking);
				if (look.taken() != null) {
					return granted(look.taken());
				}
				door = look.door();
				boolean settled = place.isPlaced() && place.isWatching();
				if (door != null && settled && !(place.isHead() && door.version() == GiveBack.RESERVED)) {
					break;
				}
			}
		}
		Duration retryAfter = place.isWatching() ? POLL : SOON;
		return new AttemptResult.Busy(retryAfter, this.provider.holders().of(door, session, await));
	}

	private AttemptResult granted(Door door) {
		this.provider.doors().add(door);
		return new AttemptResult.Granted(door.grant());
	}

	@Override
	public ReleaseOutcome withdraw(Duration timeout) {
		Place place = this.provider.places().find(this.key, null);
		if (place == null || place.session().hasEnded()) {
			return ReleaseOutcome.NOT_HELD;
		}
		Await await = new Await(place.session(), System.nanoTime() + timeout.toNanos());
		try {
			lock(place, await);
		}
		catch (LockProviderException ex) {
			return ReleaseOutcome.UNKNOWN;
		}
		try {
			if (!place.mayBeWithdrawnBy(this.number)) {
				return ReleaseOutcome.NOT_HELD;
			}
			boolean stood = new Line(place, this.provider.sessions().layout(), await).leave();
			this.provider.places().remove(place);
			return stood ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD;
		}
		catch (LockProviderException ex) {
			return ReleaseOutcome.UNKNOWN;
		}
		finally {
			place.lock().unlock();
		}
	}

}
