package io.distributedlock.interceptor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Lock;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockCallback;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.LossRegistration;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Operations that record and grant each request; they can be busy or lose the lock. */
public final class RecordingLockOperations implements LockOperations {

	private final List<LockRequest> requests = Collections.synchronizedList(new ArrayList<>());

	private @Nullable LockException refusal;

	private boolean losing;

	public List<LockRequest> requests() {
		return this.requests;
	}

	public List<String> keys() {
		return last().keys().stream().map(LockKey::encoded).toList();
	}

	public LockRequest last() {
		return this.requests.get(this.requests.size() - 1);
	}

	public RecordingLockOperations busy() {
		return refusing(new LockNotAcquiredException(LockKey.of("busy"), Duration.ZERO, null));
	}

	/** Lets each request fail before its body starts. */
	public RecordingLockOperations refusing(LockException refusal) {
		this.refusal = refusal;
		return this;
	}

	public RecordingLockOperations losing() {
		this.losing = true;
		return this;
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LockCallback<T, E> body)
			throws E {
		this.requests.add(request);
		LockKey key = request.keys().get(0);
		if (this.refusal != null) {
			throw this.refusal;
		}
		LockLease lease = mock(LockLease.class);
		given(lease.keys()).willReturn(request.keys());
		given(lease.onLost(any())).willReturn(mock(LossRegistration.class));
		T result;
		try (LockContext.Scope scope = LockContext.open(lease)) {
			result = body.doWithLock(lease);
		}
		if (this.losing) {
			throw new LockLostException(LockError.LOST, key, LossReason.EXPIRED, null);
		}
		return result;
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
	public CompletableFuture<LockLease> acquireAsync(LockRequest request, List<LockLease> enclosing) {
		this.requests.add(request);
		if (this.refusal != null) {
			return CompletableFuture.failedFuture(this.refusal);
		}
		throw new UnsupportedOperationException();
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> @Nullable CompletableFuture<T> executeAsync(
			LockRequest request, LockCallback<? extends @Nullable CompletionStage<T>, E> body) throws E {
		CompletionStage<T> stage = this.<CompletionStage<T>, E>execute(request, body::doWithLock);
		return (stage != null) ? stage.toCompletableFuture() : null;
	}

	@Override
	public Lock asLock(LockRequest request) {
		throw new UnsupportedOperationException();
	}

}
