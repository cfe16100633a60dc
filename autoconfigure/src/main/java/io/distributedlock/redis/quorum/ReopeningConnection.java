package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.Deadline;

/**
 * The way to a node of a quorum, from the opening of its connection to the end. It fails
 * at any of its steps, and is then followed by another one after a pause.
 */
final class ReopeningConnection {

	private final CompletableFuture<NodeConnection> asked = new CompletableFuture<>();

	private final CompletableFuture<NodeConnection> ready = new CompletableFuture<>();

	/**
	 * What waits until the server is a member, first come, first served: a release that
	 * waits behind its attempt must not overtake it, as it would among the dependents of
	 * a future. Guarded by the monitor.
	 */
	private final List<BiConsumer<@Nullable NodeConnection, @Nullable Throwable>> waiting = new ArrayList<>();

	/** Whether nothing waits any more; guarded by the monitor. */
	private boolean settled;

	private volatile @Nullable NodeConnection connection;

	/** The end of the pause after a failure. */
	private volatile @Nullable Deadline retry;

	/** The connection, once the server has run for long enough. */
	CompletableFuture<NodeConnection> asked() {
		return this.asked;
	}

	/** Runs an action with the connection to a member, or with the failure. */
	void whenReady(BiConsumer<@Nullable NodeConnection, @Nullable Throwable> action) {
		synchronized (this) {
			if (!this.settled) {
				this.waiting.add(action);
				return;
			}
		}
		this.ready.whenComplete(action);
	}

	/** Records that the server is a member of the quorum. */
	void complete(NodeConnection member) {
		if (this.ready.complete(member)) {
			settle();
		}
	}

	private void failReady(LockProviderException failure) {
		if (this.ready.completeExceptionally(failure)) {
			settle();
		}
	}

	/** Runs what waits. What comes meanwhile is behind it. */
	private void settle() {
		List<BiConsumer<@Nullable NodeConnection, @Nullable Throwable>> next;
		do {
			synchronized (this) {
				next = List.copyOf(this.waiting);
				this.waiting.clear();
				this.settled = next.isEmpty();
			}
			next.forEach(this.ready::whenComplete);
		}
		while (!next.isEmpty());
	}

	/** Records the connection, which has not been used yet. */
	void open(NodeConnection opened) {
		this.connection = opened;
	}

	/** Whether another one may follow. */
	boolean isOver() {
		Deadline pause = this.retry;
		if (pause != null) {
			return pause.isPast();
		}
		NodeConnection opened = this.connection;
		return this.asked.isDone() && opened != null && !opened.isUsable();
	}

	/**
	 * Ends the link.
	 * @param pause the time before the next one
	 */
	void fail(LockProviderException failure, Duration pause) {
		this.retry = Deadline.after(pause);
		close();
		this.asked.completeExceptionally(failure);
		failReady(failure);
	}

	/**
	 * Refuses the connection to commands for a time, after which another link follows.
	 * Until then other servers can still learn from this one, whose own attempts to
	 * become a member come at other times.
	 */
	void refuse(LockProviderException failure, Duration pause) {
		this.retry = Deadline.after(pause);
		failReady(failure);
	}

	/** Closes the connection. */
	CompletableFuture<?> close() {
		NodeConnection opened = this.connection;
		return (opened != null) ? opened.close() : CompletableFuture.completedFuture(null);
	}

}
