package io.distributedlock.jdbc.rowlock;

import java.sql.Connection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.Deadline;

/**
 * Row that this process has locked for a grant, with the connection that holds the lock.
 * Safe for use by many threads.
 * <p>
 * Invariants: statements run on the connection under {@link #use} only; who
 * {@linkplain #claimEnd() claims the end} is the only one to give the connection back,
 * and does so once.
 */
final class HeldRow {

	final String key;

	final String owner;

	final Connection connection;

	final long session;

	final ReentrantLock use = new ReentrantLock();

	private final AtomicBoolean ending = new AtomicBoolean();

	/** Completes when the connection has been given back or discarded. */
	final CompletableFuture<Void> ended = new CompletableFuture<>();

	/** The check that is under way: it may outlast the renewal that began it. */
	private final AtomicReference<@Nullable CompletableFuture<SessionState>> check = new AtomicReference<>();

	private volatile long order;

	private volatile Deadline until;

	private volatile @Nullable Future<?> watch;

	/**
	 * Creates a row that is locked.
	 * @param key the key of the row with the order
	 * @param owner the owner in that row
	 * @param session the id of the session
	 * @param until until when the row stays locked, unless renewed
	 */
	HeldRow(String key, String owner, Connection connection, long session, Deadline until) {
		this.key = key;
		this.owner = owner;
		this.connection = connection;
		this.session = session;
		this.until = until;
	}

	long order() {
		return this.order;
	}

	void order(long order) {
		this.order = order;
	}

	Deadline until() {
		return this.until;
	}

	void prolong(Deadline until) {
		if (this.until.isBefore(until)) {
			this.until = until;
		}
	}

	/** Records the signal of the timer at the end of the lease. */
	void watchedBy(Future<?> signal) {
		this.watch = signal;
		if (isEnding()) {
			signal.cancel(false);
		}
	}

	boolean claimEnd() {
		boolean claimed = this.ending.compareAndSet(false, true);
		Future<?> signal = this.watch;
		if (claimed && signal != null) {
			signal.cancel(false);
		}
		return claimed;
	}

	boolean isEnding() {
		return this.ending.get();
	}

	/**
	 * Joins the check that is under way, or begins another one.
	 * @param begun what a check that begins now completes
	 * @return the check under way, or {@code null} if the given one begins now
	 */
	@Nullable CompletableFuture<SessionState> joinCheck(CompletableFuture<SessionState> begun) {
		return this.check.compareAndSet(null, begun) ? null : this.check.get();
	}

	void endCheck() {
		this.check.set(null);
	}

}
