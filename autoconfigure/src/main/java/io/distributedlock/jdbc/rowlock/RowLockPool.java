package io.distributedlock.jdbc.rowlock;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.jdbc.connection.ConnectionSource;
import io.distributedlock.jdbc.connection.DedicatedConnection;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

/**
 * Pool of the connections that hold row locks. A connection that is kept stays with its
 * lock when the call ends that borrowed it. Each attempt has a permit from before it
 * borrows a connection until it has ended and that is back, so that the wait for a
 * connection counts against its time-out. Safe for use by many threads.
 * <p>
 * Invariants: the connections that calls use and those that are kept are never more than
 * the permits in use, also when an attempt has ended before the worker that it abandoned;
 * a connection is given back or discarded once, by who removes its loan.
 */
final class RowLockPool extends ConnectionSource {

	private final ConnectionSource pool;

	private final Semaphore permits;

	/** Permits to wait in the queue of the database, which leave attempts the others. */
	private final Semaphore waits;

	private final Map<Connection, Loan> loans = new ConcurrentHashMap<>();

	private final AtomicBoolean poolClosed = new AtomicBoolean();

	private volatile boolean closed;

	RowLockPool(ConnectionSource pool) {
		this.pool = pool;
		this.permits = new Semaphore(pool.size());
		this.waits = new Semaphore((pool.size() - 2) / 2);
	}

	/**
	 * Reserves a connection for an attempt, or returns {@code null} if there is none
	 * before the deadline.
	 */
	@Nullable Reservation reserve(Deadline deadline) throws InterruptedException {
		return deadline.await(CallKind.ACQUIRE, (nanos) -> this.permits.tryAcquire(nanos, TimeUnit.NANOSECONDS))
				? new Reservation(this.permits) : null;
	}

	/**
	 * Uses a connection for the attempt of a reservation, until it is given back or
	 * discarded.
	 * @return {@code false} if the attempt has ended, so that the call must not go on
	 */
	boolean use(Connection connection, Reservation reservation) {
		if (!reservation.begin()) {
			return false;
		}
		if (this.loans.computeIfPresent(connection, (key, loan) -> new Loan(reservation, loan.kept())) == null) {
			reservation.end();
			return false;
		}
		return true;
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
		this.loans.computeIfPresent(connection, (key, loan) -> new Loan(loan.reservation(), true));
	}

	/** Leaves a connection to the call that has borrowed it. */
	void unkeep(Connection connection) {
		this.loans.computeIfPresent(connection, (key, loan) -> new Loan(loan.reservation(), false));
	}

	/** Returns how many connections are kept. */
	long kept() {
		return this.loans.values().stream().filter(Loan::kept).count();
	}

	/** Gives back a connection that was kept, without an open transaction. */
	void giveBack(Connection connection) {
		end(connection, this.pool::close);
	}

	/** Ends the loan of a connection, which can have been discarded already. */
	private void end(Connection connection, Consumer<Connection> end) {
		Loan loan = this.loans.remove(connection);
		if (loan != null) {
			try {
				end.accept(connection);
			}
			finally {
				if (loan.reservation() != null) {
					loan.reservation().end();
				}
				closeIfUnused();
			}
		}
	}

	@Override
	public void close(Connection connection) {
		Loan loan = this.loans.get(connection);
		if (loan != null && !loan.kept()) {
			end(connection, this.pool::close);
		}
	}

	@Override
	public void discard(Connection connection) {
		end(connection, this.pool::discard);
	}

	@Override
	public void abort(Connection connection) {
		end(connection, this.pool::abort);
	}

	@Override
	public int size() {
		return this.pool.size();
	}

	@Override
	public String sizedBy() {
		return "distributed-lock.jdbc.pool.row-lock-size";
	}

	@Override
	public boolean canBorrowBefore(Deadline deadline) {
		return this.pool.canBorrowBefore(deadline);
	}

	@Override
	public Connection borrow(Deadline deadline) {
		Connection connection = this.pool.borrow(deadline);
		this.loans.put(connection, new Loan(null, false));
		return connection;
	}

	@Override
	public DedicatedConnection openDedicated() throws SQLException {
		return this.pool.openDedicated();
	}

	@Override
	public void replaceConnections() {
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
		if (this.closed && kept() == 0 && this.poolClosed.compareAndSet(false, true)) {
			this.pool.close();
		}
	}

	/**
	 * Connection that is borrowed.
	 *
	 * @param reservation the reservation of the attempt that uses it, if any yet
	 * @param kept whether it is kept beyond its call
	 */
	private record Loan(@Nullable Reservation reservation, boolean kept) {
	}

	/**
	 * Permit of an attempt and of the connections that it uses. It is given back when all
	 * of them have ended.
	 */
	static final class Reservation {

		private final Semaphore permits;

		private final AtomicInteger users = new AtomicInteger(1);

		private Reservation(Semaphore permits) {
			this.permits = permits;
		}

		private boolean begin() {
			return this.users.getAndUpdate((count) -> (count > 0) ? count + 1 : 0) > 0;
		}

		/** Ends the attempt, once. */
		void end() {
			if (this.users.decrementAndGet() == 0) {
				this.permits.release();
			}
		}

	}

}
