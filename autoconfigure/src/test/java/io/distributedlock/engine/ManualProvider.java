package io.distributedlock.engine;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.CompletableStoreCall;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * A store for one key whose attempts a test answers when it wants to: the next one that
 * is under way is granted, is busy, or fails. It notices two attempts at once, and two
 * owners.
 */
final class ManualProvider implements LockProvider {

	private final AtomicLong orders = new AtomicLong();

	private final AtomicReference<@Nullable CompletableStoreCall<AttemptResult>> underWay = new AtomicReference<>();

	private final AtomicReference<@Nullable OwnerId> attempting = new AtomicReference<>();

	/** The owner that holds the key. */
	private final AtomicReference<@Nullable OwnerId> owner = new AtomicReference<>();

	private final AtomicInteger openContenders = new AtomicInteger();

	private final boolean answersAtOnce;

	/**
	 * Creates a store.
	 * @param answersAtOnce whether each attempt is granted at once if the key is free
	 */
	ManualProvider(boolean answersAtOnce) {
		this.answersAtOnce = answersAtOnce;
	}

	@Override
	public String name() {
		return "manual";
	}

	@Override
	public boolean isBlocking() {
		return false;
	}

	@Override
	public LockContender newContender(LockKey key, Runnable onNotified) {
		this.openContenders.incrementAndGet();
		return new ManualContender(key);
	}

	int openContenders() {
		return this.openContenders.get();
	}

	boolean isHeld() {
		return this.owner.get() != null;
	}

	boolean hasAttempt() {
		return this.underWay.get() != null;
	}

	/** Lets another process hold the key. */
	void takeElsewhere() {
		this.owner.set(OwnerId.random());
	}

	/** Answers the attempt that is under way, if any. */
	void answer(LockKey key) {
		CompletableStoreCall<AttemptResult> call = this.underWay.getAndSet(null);
		OwnerId asking = this.attempting.get();
		if (call != null && asking != null) {
			call.complete(result(key, asking));
		}
	}

	/** Fails the attempt that is under way, if any, without an effect. */
	void fail() {
		CompletableStoreCall<AttemptResult> call = this.underWay.getAndSet(null);
		if (call != null) {
			call.fail(LockProviderException.nothingSent(LockError.NOT_PERMITTED, name(), "refused", null));
		}
	}

	private AttemptResult result(LockKey key, OwnerId asking) {
		if (this.owner.compareAndSet(null, asking)) {
			return new AttemptResult.Granted(
					new LockGrant(key, asking, this.orders.incrementAndGet(), Duration.ofSeconds(30)));
		}
		return new AttemptResult.Busy(Duration.ZERO, null);
	}

	@Override
	public StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		return AnsweredStoreCall.of(Map.of());
	}

	@Override
	public StoreCall<ReleaseOutcome> release(LockKey key, OwnerId released, Duration keepFor, Duration timeout) {
		OwnerId holder = this.owner.get();
		boolean held = released.equals(holder) && this.owner.compareAndSet(holder, null);
		return AnsweredStoreCall.of(held ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD);
	}

	@Override
	public void check(Duration timeout) {
	}

	private final class ManualContender implements LockContender {

		private final LockKey key;

		private ManualContender(LockKey key) {
			this.key = key;
		}

		@Override
		public StoreCall<AttemptResult> attempt(OwnerId asking, Duration lease, boolean willWait, Duration timeout) {
			if (ManualProvider.this.answersAtOnce) {
				return AnsweredStoreCall.of(result(this.key, asking));
			}
			CompletableStoreCall<AttemptResult> call = new CompletableStoreCall<>();
			ManualProvider.this.attempting.set(asking);
			if (!ManualProvider.this.underWay.compareAndSet(null, call)) {
				throw new IllegalStateException("Two attempts at once");
			}
			return call;
		}

		@Override
		public StoreCall<ReleaseOutcome> withdraw(Duration timeout) {
			return AnsweredStoreCall.of(ReleaseOutcome.NOT_HELD);
		}

		@Override
		public void close() {
			ManualProvider.this.openContenders.decrementAndGet();
		}

	}

}
