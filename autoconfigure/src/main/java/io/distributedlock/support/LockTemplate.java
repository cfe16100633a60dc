package io.distributedlock.support;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockCallback;
import io.distributedlock.LockLease;
import io.distributedlock.LockListener;
import io.distributedlock.LockObserver;
import io.distributedlock.LockOperations;
import io.distributedlock.LockProvider;
import io.distributedlock.LockRequest;

/**
 * The engine behind {@link LockOperations}, over any {@link LockProvider}.
 *
 * @since 0.1.0
 */
public final class LockTemplate implements LockOperations, AutoCloseable {

	public LockTemplate(LockProvider provider, LockSettings settings, LockTimer timer, List<LockObserver> observers,
			List<LockListener> listeners) {
	}

	@Override
	public @Nullable LockLease tryAcquire(LockRequest request) {
		throw new UnsupportedOperationException();
	}

	@Override
	public LockLease acquire(LockRequest request) {
		throw new UnsupportedOperationException();
	}

	@Override
	public CompletableFuture<LockLease> acquireAsync(LockRequest request) {
		throw new UnsupportedOperationException();
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LockCallback<T, E> body)
			throws E {
		throw new UnsupportedOperationException();
	}

	@Override
	public void close() {
	}

}
