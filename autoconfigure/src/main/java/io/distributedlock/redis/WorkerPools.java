package io.distributedlock.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.WorkerResult;

/**
 * The threads for calls that block: a caller leaves at its deadline, however long the
 * client or its pool blocks. Each kind of call has a pool of its own, so that blocked
 * acquires delay neither releases nor renewals.
 */
final class WorkerPools implements AutoCloseable {

	/** Most callers of running calls have left already: only the client still waits. */
	private static final Duration PATIENCE = Duration.ofSeconds(1);

	private final ExecutorService acquirers = LockThreads.pool("redis-call", 4);

	/**
	 * One more than the engine's concurrent retries of releases, so that one node that
	 * does not reply delays no release on the others.
	 */
	private final ExecutorService releasers = LockThreads.pool("redis-release", 5);

	/** Two, so that a renewal whose reply is lost does not delay the next one. */
	private final ExecutorService renewers = LockThreads.pool("redis-renewal", 2);

	private final Duration patience;

	WorkerPools() {
		this(PATIENCE);
	}

	/**
	 * Creates the pools.
	 * @param patience how long {@link #close()} waits for running calls, before and after
	 * it interrupts them
	 */
	WorkerPools(Duration patience) {
		this.patience = patience;
	}

	/**
	 * Submits an action to the pool of its kind.
	 * @param deadline the end of the wait for its result
	 */
	<T> PendingResult<T> submit(CallKind kind, Deadline deadline, Supplier<T> action) {
		WorkerResult<T> result = new WorkerResult<>();
		try {
			executor(kind).execute(() -> run(action, result));
		}
		catch (RejectedExecutionException ex) {
			throw LockProviderException.nothingSent(LockError.SHUTTING_DOWN, RedisErrors.PROVIDER, "is closed", ex);
		}
		catch (OutOfMemoryError ex) {
			throw LockProviderException.nothingSent(LockError.STORE_FAILED, RedisErrors.PROVIDER,
					"could not be called: " + ex.getMessage(), ex);
		}
		return () -> {
			if (!result.await(deadline, kind)) {
				throw new TimeoutException("No reply in time");
			}
			if (result.failure() instanceof RuntimeException failure) {
				throw failure;
			}
			return result.value();
		};
	}

	private static <T> void run(Supplier<T> action, WorkerResult<T> result) {
		if (result.isAbandoned()) {
			return;
		}
		try {
			result.complete(action.get());
		}
		catch (RuntimeException ex) {
			result.fail(ex);
		}
		catch (Error ex) {
			result.fail(new IllegalStateException(ex));
			throw ex;
		}
	}

	private ExecutorService executor(CallKind kind) {
		return switch (kind) {
			case ACQUIRE -> this.acquirers;
			case RELEASE -> this.releasers;
			case RENEWAL -> this.renewers;
		};
	}

	/**
	 * Rejects further calls, and waits a moment for running ones; interrupts those that
	 * still run then, and waits once more. Jedis may pause for seconds before it repeats
	 * a call to a cluster, and would open connections again after the client was closed.
	 */
	@Override
	public void close() {
		List<ExecutorService> pools = List.of(this.acquirers, this.releasers, this.renewers);
		pools.forEach(ExecutorService::shutdown);
		try {
			if (!await(pools)) {
				pools.forEach(ExecutorService::shutdownNow);
				await(pools);
			}
		}
		catch (InterruptedException ex) {
			pools.forEach(ExecutorService::shutdownNow);
			Thread.currentThread().interrupt();
		}
	}

	private boolean await(List<ExecutorService> pools) throws InterruptedException {
		Deadline deadline = Deadline.after(this.patience);
		boolean ended = true;
		for (ExecutorService pool : pools) {
			ended &= pool.awaitTermination(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
		}
		return ended;
	}

}
