package io.distributedlock.zookeeper;

import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.DeadlineTimer;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;

/**
 * Registry of the lock nodes that this process holds. ZooKeeper has no expiry but that of
 * the session, so this registry ends leases that were not renewed: with one alarm, at the
 * earliest end of all leases.
 */
final class LockNodeRegistry {

	private final ConcurrentHashMap<LockKey, LockNode> held = new ConcurrentHashMap<>();

	private final DeadlineTimer alarm;

	private final Consumer<LockNode> expired;

	/**
	 * Creates an empty registry.
	 * @param expired receives each lock node whose lease has expired, and has to release
	 * it; must not block
	 */
	LockNodeRegistry(LockTimer timer, Consumer<LockNode> expired) {
		this.alarm = new DeadlineTimer(timer, this::expireLeases);
		this.expired = expired;
	}

	void add(LockNode node) {
		this.held.put(node.key(), node);
		setAlarm(node);
	}

	/**
	 * Returns the lock node of an owner, or {@code null} if there is none or its session
	 * has ended.
	 */
	@Nullable LockNode find(LockKey key, OwnerId owner) {
		LockNode node = this.held.get(key);
		return (node != null && node.owner().equals(owner) && !node.session().hasEnded()) ? node : null;
	}

	/** Returns whether a node that was read is a lock node of this registry. */
	boolean contains(LockKey key, ZNode read) {
		LockNode node = this.held.get(key);
		return node != null && node.isSameAs(read);
	}

	/**
	 * Removes a lock node so that it can be released.
	 * @return {@code true} for exactly one caller, which has to release the node
	 */
	boolean remove(LockNode node) {
		return remove(node, node.endLease());
	}

	private boolean remove(LockNode node, boolean ended) {
		this.held.remove(node.key(), node);
		if (ended) {
			node.session().free(node.path().lockNodeBytes());
		}
		return ended;
	}

	/** Removes the lock nodes of a session that has ended. */
	void removeAll(Session session) {
		this.held.values().removeIf((node) -> node.session() == session);
	}

	/** Removes each lock node whose lease has expired. */
	void expireLeases() {
		Deadline now = Deadline.now();
		for (LockNode node : this.held.values()) {
			if (node.endExpiredLease(now)) {
				remove(node, true);
				this.expired.accept(node);
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
