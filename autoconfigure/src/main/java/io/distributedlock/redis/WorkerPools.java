package io.distributedlock.redis;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.WorkerResult;
import io.distributedlock.redis.ScriptClient.Pending;

/**
 * The few threads for what nothing can end from outside: who waits for it leaves in time,
 * whatever the client and its pool do. Each kind of call has its own, so that acquires
 * that are stuck hold up neither releases nor renewals.
 */
final class WorkerPools implements AutoCloseable {

	private final ExecutorService acquirers = LockThreads.pool("redis-call", 4);

	/**
	 * One more than what is cleaned up at once, so that a node that does not answer holds
	 * up no releases on others.
	 */
	private final ExecutorService releasers = LockThreads.pool("redis-release", 5);

	/**
	 * Two, so that a renewal whose answer is lost does not keep the next from being sent.
	 */
	private final ExecutorService renewers = LockThreads.pool("redis-renewal", 2);

	/**
	 * Has something done.
	 * @param deadline until when its result is waited for
	 */
	<T> Pending<T> submit(CallKind kind, long deadline, Supplier<T> action) {
		WorkerResult<T> end = new WorkerResult<>();
		try {
			executor(kind).execute(() -> work(action, end));
		}
		catch (RejectedExecutionException ex) {
			throw LockProviderException.nothingSent(LockError.SHUTTING_DOWN, RedisErrors.PROVIDER, "is closed", ex);
		}
		catch (OutOfMemoryError ex) {
			throw LockProviderException.nothingSent(LockError.STORE_FAILED, RedisErrors.PROVIDER,
					"could not be called: " + ex.getMessage(), ex);
		}
		return () -> {
			if (!end.await(deadline, kind.interruptible())) {
				throw new TimeoutException("No answer in time");
			}
			if (end.failure() instanceof RuntimeException failure) {
				throw failure;
			}
			return end.value();
		};
	}

	private static <T> void work(Supplier<T> action, WorkerResult<T> end) {
		if (end.isAbandoned()) {
			return;
		}
		try {
			end.complete(action.get());
		}
		catch (RuntimeException ex) {
			end.fail(ex);
		}
		catch (Error ex) {
			end.fail(new IllegalStateException(ex));
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

	/** Takes no more calls. Those under way end by themselves. */
	@Override
	public void close() {
		this.acquirers.shutdown();
		this.releasers.shutdown();
		this.renewers.shutdown();
	}

}
