package io.distributedlock.zookeeper.node;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.DeadlineTimer;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.zookeeper.session.Session;
import io.distributedlock.zookeeper.session.ZNode;

/**
 * Registry of the lock nodes that this process holds, each until its release is answered
 * or undecided. ZooKeeper has no expiry but that of the session, so this registry ends
 * leases that were not renewed: with one alarm, at the earliest end of all leases.
 */
public final class LockNodeRegistry {

	/** The registries of closed providers of this JVM whose locks are still held. */
	private static final Set<LockNodeRegistry> SHARED = ConcurrentHashMap.newKeySet();

	/** The lock nodes by key, and the shares by owner: a key may have several. */
	private final ConcurrentHashMap<Object, LockNode> held = new ConcurrentHashMap<>();

	private final DeadlineTimer alarm;

	private final Consumer<LockNode> expired;

	/**
	 * Creates an empty registry.
	 * @param expired receives each lock node whose lease has expired, and has to release
	 * it; must not block
	 */
	public LockNodeRegistry(LockTimer timer, Consumer<LockNode> expired) {
		this.alarm = new DeadlineTimer(timer, this::expireLeases);
		this.expired = expired;
	}

	/**
	 * Adds a lock node. One of a session that has ended does not replace that of a later
	 * session.
	 * @return {@code false} if the session has ended
	 */
	public boolean add(LockNode node) {
		this.held.compute(id(node), (key, present) -> node.session().hasEnded() ? present : node);
		if (node.session().hasEnded()) {
			// It may have been added after the nodes of the session were removed.
			remove(node);
			return false;
		}
		setAlarm(node);
		return true;
	}

	private static Object id(LockNode node) {
		return node.path().isShare() ? node.owner() : node.key();
	}

	/**
	 * Returns the lock node of an owner, or {@code null} if there is none, its release
	 * has begun, or its session has ended.
	 */
	public @Nullable LockNode find(LockKey key, OwnerId owner) {
		LockNode node = this.held.get(owner.isShare() ? owner : key);
		return (node != null && node.key().equals(key) && node.owner().equals(owner) && node.leaseEnd() != null
				&& !node.session().hasEnded()) ? node : null;
	}

	/**
	 * Returns the lock nodes with some names in a session, but none whose release has
	 * begun.
	 */
	public List<LockNode> find(Set<String> names, Session session) {
		return names.isEmpty() ? List.of()
				: this.held.values()
					.stream()
					.filter((node) -> node.session() == session && node.leaseEnd() != null)
					.filter((node) -> names.contains(node.path().name()))
					.toList();
	}

	/**
	 * Returns whether a node that was read is a lock node of this registry or of a closed
	 * provider, which its owner holds or is about to release.
	 */
	boolean contains(LockKey key, ZNode read) {
		return holds(key, read) || SHARED.stream().anyMatch((shared) -> shared.holds(key, read));
	}

	private boolean holds(LockKey key, ZNode read) {
		LockNode node = this.held.get(key);
		return node != null && node.isSameAs(read);
	}

	/**
	 * Shows the lock nodes of a closed provider to the next one with the same client and
	 * root: both have the same session.
	 */
	public void share() {
		SHARED.add(this);
	}

	/** Ends what {@link #share()} has begun. */
	public void unshare() {
		SHARED.remove(this);
	}

	/**
	 * Begins the release of a lock node, which is not found any more.
	 * @return {@code true} for exactly one caller, which has to release the node and to
	 * remove it afterwards
	 */
	public boolean beginRelease(LockNode node) {
		if (!node.endLease()) {
			return false;
		}
		node.session().free(node.path().lockNodeLength());
		return true;
	}

	/** Removes a lock node whose release was answered, or is undecided. */
	public void remove(LockNode node) {
		this.held.remove(id(node), node);
	}

	/** Removes the lock nodes of a session that has ended. */
	public void removeAll(Session session) {
		this.held.values().removeIf((node) -> node.session() == session);
	}

	public boolean isEmpty() {
		return this.held.isEmpty();
	}

	/** Releases each lock node whose lease has expired. */
	public void expireLeases() {
		Deadline now = Deadline.now();
		for (LockNode node : this.held.values()) {
			if (node.endExpiredLease(now)) {
				node.session().free(node.path().lockNodeLength());
				this.expired.accept(node);
				remove(node);
			}
			else {
				setAlarm(node);
			}
		}
	}

	private void setAlarm(LockNode node) {
		Deadline end = node.leaseEnd();
		if (end != null) {
			this.alarm.setAt(end);
		}
	}

}
