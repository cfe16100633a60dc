package io.distributedlock.actuate;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.LockProvider;

/**
 * Probe of one store, of which one is under way at most: callers that come meanwhile
 * share its result, so that none pile up before a store that does not answer.
 */
final class StoreProbe {

	private final LockProvider provider;

	private final Duration timeout;

	private final AtomicReference<@Nullable CompletableFuture<Optional<RuntimeException>>> underWay = new AtomicReference<>();

	/**
	 * Creates a probe.
	 * @param timeout how long a probe, and the wait for one, may take
	 */
	StoreProbe(LockProvider provider, Duration timeout) {
		this.provider = provider;
		this.timeout = timeout;
	}

	/**
	 * Probes the store, or waits for a probe under way.
	 * @return the failure, if the store cannot grant locks
	 */
	Optional<RuntimeException> run() {
		CompletableFuture<Optional<RuntimeException>> own = new CompletableFuture<>();
		CompletableFuture<Optional<RuntimeException>> present = this.underWay.compareAndExchange(null, own);
		if (present != null) {
			return await(present);
		}
		Optional<RuntimeException> result = Optional.of(new IllegalStateException("The probe ended with an error"));
		try {
			this.provider.probe(this.timeout);
			result = Optional.empty();
		}
		catch (RuntimeException ex) {
			result = Optional.of(ex);
		}
		finally {
			this.underWay.set(null);
			if (Thread.currentThread().isInterrupted()) {
				// It says nothing about the store.
				own.cancel(false);
			}
			own.complete(result);
		}
		return result;
	}

	private Optional<RuntimeException> await(CompletableFuture<Optional<RuntimeException>> present) {
		try {
			return present.get(this.timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (CancellationException ex) {
			return run();
		}
		catch (TimeoutException | ExecutionException ex) {
			return Optional.of(new LockProviderException(LockError.STORE_TIMEOUT, this.provider.name(),
					"did not answer an earlier probe in time (distributed-lock.call-timeout)", ex));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return Optional.of(new LockProviderException(LockError.STORE_FAILED, this.provider.name(),
					"did not answer before the thread was interrupted", ex));
		}
	}

}
