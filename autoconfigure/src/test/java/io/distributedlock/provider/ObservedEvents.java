package io.distributedlock.provider;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LossReason;

/**
 * An observer for tests that do not tell requests for one key apart, nor its holds.
 */
public class ObservedEvents implements LockObserver {

	/** Observes the end of a request. */
	protected void acquireEnded(LockKey key, AcquireOutcome outcome) {
	}

	/** Observes the start of a hold. */
	protected void holdStarted(LockKey key) {
	}

	/** Observes the end of a hold. */
	protected void holdEnded(LockKey key) {
	}

	@Override
	public AcquireObserver onAcquireStart(LockKey key) {
		return new AcquireObserver() {

			@Override
			public void onEnd(AcquireOutcome outcome, @Nullable Throwable failure) {
				acquireEnded(key, outcome);
			}

			@Override
			public HoldObserver onHoldStart(FencingToken token) {
				holdStarted(key);
				return new HoldObserver() {

					@Override
					public void onEnd(@Nullable LossReason loss) {
						holdEnded(key);
					}

				};
			}

			@Override
			public AcquireObserver onNextKey(LockKey next) {
				return onAcquireStart(next);
			}

		};
	}

}
