package io.distributedlock.zookeeper;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.utils.ZKPaths;

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;

/**
 * Keeps locks in a ZooKeeper ensemble: an ephemeral node per held lock, in the session of
 * the process, whose {@code czxid} is the order of the grant.
 * <p>
 * A lock that nobody waits for costs one request to take and one to give back. Processes
 * that wait stand in a line per lock, each told of what stands right before it; a release
 * reserves the lock for the first of them. A lock lasts as long as the session does, and
 * is relied upon as long as the ensemble has confirmed that by answering writes; its
 * lease ends it earlier where it is not renewed. An ensemble that cannot answer is a
 * {@link LockProviderException}, never a busy lock. No thread of its own; safe for use by
 * many threads.
 * <p>
 * The recipe follows ZooKeeper's own for locks, with the queue beside the lock's node
 * instead of in its place, so that a lock without waiters needs no queue.
 *
 * @since 0.1.0
 */
public final class ZooKeeperLockProvider implements LockProvider, AutoCloseable {

	private static final Log logger = LogFactory.getLog(ZooKeeperLockProvider.class);

	private final AtomicBoolean shortLeaseTold = new AtomicBoolean();

	private final AtomicLong contenders = new AtomicLong();

	private final Tenancy tenancy;

	private final LockPaths paths;

	private final Sessions sessions;

	private final Doors doors;

	private final Places places = new Places();

	private final GiveBack giveBack;

	private final Leftovers leftovers;

	private final Holders holders;

	private final DoorRenewals renewals;

	/**
	 * Creates a provider that follows the client's sessions from now on.
	 * @param client the client, started now or later; stays the application's
	 * @param settings the settings
	 * @param timer signals the ends of leases and reservations, and the heartbeats
	 * @throws io.distributedlock.LockConfigurationException if another provider that is
	 * not closed has the same client and root
	 */
	public ZooKeeperLockProvider(CuratorFramework client, ZooKeeperLockSettings settings, LockTimer timer) {
		String namespace = client.getNamespace();
		String root = (namespace == null || namespace.isEmpty()) ? settings.root()
				: ZKPaths.makePath(namespace, settings.root());
		this.paths = new LockPaths(root, settings.keyPrefix());
		this.holders = new Holders(this.paths);
		this.giveBack = new GiveBack(timer, this.places::leave);
		this.doors = new Doors(timer, this::lapsed);
		this.leftovers = new Leftovers(this.doors, this.giveBack, timer);
		this.renewals = new DoorRenewals(this.doors, this.leftovers);
		this.sessions = new Sessions(client, settings, this.paths, timer, this::connected, this::ended);
		this.tenancy = Tenancy.of(client, root);
		try {
			this.sessions.start();
		}
		catch (RuntimeException ex) {
			close();
			throw ex;
		}
	}

	@Override
	public String name() {
		return ZooKeeperErrors.PROVIDER;
	}

	LockPaths paths() {
		return this.paths;
	}

	Sessions sessions() {
		return this.sessions;
	}

	Doors doors() {
		return this.doors;
	}

	Places places() {
		return this.places;
	}

	Leftovers leftovers() {
		return this.leftovers;
	}

	Holders holders() {
		return this.holders;
	}

	/** Told once: after a crash such a lock stays for longer than its lease. */
	void warnOfShortLease(Duration lease, Session session) {
		if (lease.toNanos() < session.timeout() && this.shortLeaseTold.compareAndSet(false, true)) {
			logger.warn("A lock was asked for with a lease of " + lease.toMillis()
					+ " ms, but ZooKeeper keeps the locks of a process that died for its session's time-out of "
					+ Duration.ofNanos(session.timeout()).toMillis() + " ms");
		}
	}

	private void connected(Session session) {
		this.leftovers.resolve(session);
		this.places.reconnected(session);
	}

	private void ended(Session session) {
		this.doors.drop(session);
		this.leftovers.drop(session);
		this.places.drop(session);
	}

	private void lapsed(Door door) {
		this.leftovers.released(door, this.giveBack.start(door));
	}

	@Override
	public LockContender enter(LockKey key, Runnable changed) {
		return new DoorContender(this, key, this.paths.of(key), this.contenders.incrementAndGet(), changed);
	}

	@Override
	public Map<LockGrant, RenewalOutcome> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		return this.renewals.renew(leases, System.nanoTime() + timeout.toNanos());
	}

	@Override
	public ReleaseOutcome release(LockKey key, OwnerId owner, Duration timeout) {
		long deadline = System.nanoTime() + timeout.toNanos();
		Door door = this.doors.find(key, owner);
		if (door != null && this.doors.claim(door)) {
			return release(door, deadline);
		}
		return this.leftovers.await(key, owner, deadline);
	}

	private ReleaseOutcome release(Door door, long deadline) {
		CompletableFuture<Boolean> sent = this.giveBack.start(door);
		try {
			boolean found = new Await(door.session(), deadline).result(sent);
			return found ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD;
		}
		catch (LockProviderException ex) {
			if (door.session().hasEnded()) {
				return ReleaseOutcome.NOT_HELD;
			}
			this.leftovers.released(door, sent);
			return this.leftovers.await(door.key(), door.owner(), deadline);
		}
	}

	@Override
	public void check(Duration timeout) {
		this.sessions.ready(System.nanoTime() + timeout.toNanos());
	}

	/**
	 * Takes no more calls and gives up this process's session as far as locks are
	 * concerned: what it still holds counts as lost, and stands in the store until the
	 * client, which stays open, ends that session.
	 */
	@Override
	public void close() {
		try {
			this.sessions.close();
		}
		finally {
			this.tenancy.close();
		}
	}

}
