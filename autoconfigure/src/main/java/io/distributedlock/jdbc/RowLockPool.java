package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

/**
 * Pool of the connections that hold row locks. A connection that is kept stays with its
 * lock when the call ends that borrowed it. Each attempt has a permit from before it
 * borrows a connection until that is given back, so that the wait for a connection counts
 * against its time-out. Safe for use by many threads.
 * <p>
 * Invariant: the kept connections and those that calls have borrowed are never more than
 * the permits in use.
 */
final class RowLockPool extends ConnectionSource {

	private final ConnectionSource pool;

	private final Semaphore permits;

	/** Permits to wait in the queue of the database, which leave attempts the others. */
	private final Semaphore waits;

	private final Set<Connection> kept = ConcurrentHashMap.newKeySet();

	private final AtomicBoolean poolClosed = new AtomicBoolean();

	private volatile boolean closed;

	RowLockPool(ConnectionSource pool) {
		this.pool = pool;
		this.permits = new Semaphore(pool.size());
		this.waits = new Semaphore((pool.size() - 2) / 2);
	}

	/** Returns whether there is a connection for an attempt before the deadline. */
	boolean reserve(Deadline deadline) throws InterruptedException {
		return deadline.await(CallKind.ACQUIRE, (nanos) -> this.permits.tryAcquire(nanos, TimeUnit.NANOSECONDS));
	}

	/** Ends a reservation whose connection was given back or discarded. */
	void unreserve() {
		this.permits.release();
	}

	/** Returns whether an attempt may wait in the queue of the database now. */
	boolean beginWait() {
		return this.waits.tryAcquire();
	}

	void endWait() {
		this.waits.release();
	}

	/** Keeps a connection beyond the call that has borrowed it. */
	void keep(Connection connection) {
		this.kept.add(connection);
	}

	/** Leaves a connection to the call that has borrowed it. */
	void unkeep(Connection connection) {
		this.kept.remove(connection);
	}

	/** Returns how many connections are kept. */
	int kept() {
		return this.kept.size();
	}

	/** Gives back a connection that was kept, without an open transaction. */
	void giveBack(Connection connection) {
		if (this.kept.remove(connection)) {
			this.pool.close(connection);
			closeIfUnused();
		}
	}

	@Override
	void close(Connection connection) {
		if (!this.kept.contains(connection)) {
			this.pool.close(connection);
		}
	}

	@Override
	void discard(Connection connection) {
		this.kept.remove(connection);
		this.pool.discard(connection);
		closeIfUnused();
	}

	@Override
	void abort(Connection connection) {
		this.pool.abort(connection);
	}

	@Override
	boolean isOwn() {
		return this.pool.isOwn();
	}

	@Override
	int size() {
		return this.pool.size();
	}

	@Override
	boolean canBorrowBefore(Deadline deadline) {
		return this.pool.canBorrowBefore(deadline);
	}

	@Override
	Connection borrow(Deadline deadline) {
		return this.pool.borrow(deadline);
	}

	@Override
	DedicatedConnection openDedicated() throws SQLException {
		return this.pool.openDedicated();
	}

	@Override
	ConnectionSettings adapt(Connection connection) throws SQLException {
		return this.pool.adapt(connection);
	}

	@Override
	void restore(Connection connection, ConnectionSettings found) {
		this.pool.restore(connection, found);
	}

	@Override
	void replaceConnections() {
		this.pool.replaceConnections();
	}

	/**
	 * Closes the pool when its last kept connection is given back: to close that earlier
	 * would release a lock under a body that still runs.
	 */
	@Override
	public void close() {
		this.closed = true;
		closeIfUnused();
	}

	private void closeIfUnused() {
		if (this.closed && this.kept.isEmpty() && this.poolClosed.compareAndSet(false, true)) {
			this.pool.close();
		}
	}

}
