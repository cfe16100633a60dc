package io.distributedlock.redis.script;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

/**
 * The threads for calls that block, however long the client or its pool blocks. Each kind
 * of call has a pool of its own, so that blocked acquires delay neither releases nor
 * renewals. The sizes are those for a single server; for a cluster the pools grow.
 */
public final class WorkerPools implements AutoCloseable {

	/** Most callers of running calls have left already: only the client still waits. */
	private static final Duration PATIENCE = Duration.ofSeconds(1);

	private final WorkerPool acquirers = new WorkerPool("redis-call", 4);

	private final WorkerPool releasers = new WorkerPool("redis-release", 5);

	/** Two, so that a renewal whose reply is lost does not delay the next one. */
	private final WorkerPool renewers = new WorkerPool("redis-renewal", 2);

	private final Duration patience;

	public WorkerPools() {
		this(PATIENCE);
	}

	/**
	 * Creates the pools.
	 * @param patience how long {@link #close()} waits for running calls, before and after
	 * it interrupts them
	 */
	public WorkerPools(Duration patience) {
		this.patience = patience;
	}

	/**
	 * Executes a call in the pool of its kind, when a worker is free for it.
	 * @param kind the purpose of the call
	 * @param node identifies the node of a cluster that is called, whose calls leave a
	 * worker for others; {@code null} if there is no other node
	 * @param call the call
	 * @throws LockProviderException if there is no worker; the call is neither run nor
	 * dropped then
	 */
	public void execute(CallKind kind, @Nullable Object node, WorkerTask call) {
		pool(kind).execute(node, call);
	}

	private WorkerPool pool(CallKind kind) {
		return switch (kind) {
			case ACQUIRE -> this.acquirers;
			case RELEASE -> this.releasers;
			case RENEWAL -> this.renewers;
		};
	}

	/**
	 * Rejects further calls, and waits a moment for running ones; interrupts those that
	 * still run then, drops those that wait for a worker, and waits once more. Jedis may
	 * pause for seconds before it repeats a call to a cluster, and would open connections
	 * again after the client was closed.
	 */
	@Override
	public void close() {
		List<WorkerPool> pools = List.of(this.acquirers, this.releasers, this.renewers);
		pools.forEach(WorkerPool::shutdown);
		try {
			if (!await(pools)) {
				pools.forEach(WorkerPool::shutdownNow);
				await(pools);
			}
		}
		catch (InterruptedException ex) {
			pools.forEach(WorkerPool::shutdownNow);
			Thread.currentThread().interrupt();
		}
	}

	private boolean await(List<WorkerPool> pools) throws InterruptedException {
		Deadline deadline = Deadline.after(this.patience);
		boolean ended = true;
		for (WorkerPool pool : pools) {
			ended &= pool.awaitTermination(Math.max(0, deadline.remainingNanos()));
		}
		return ended;
	}

}
