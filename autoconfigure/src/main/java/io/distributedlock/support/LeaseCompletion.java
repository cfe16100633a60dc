package io.distributedlock.support;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockLease;

/**
 * The completion of a future with a lock that is held. A lock that finds the future done
 * is released. So is one whose completion has not begun in time, because all callback
 * threads are occupied; the future fails then, as soon as there is a thread.
 */
final class LeaseCompletion implements Runnable {

	private static final Log logger = LogFactory.getLog(LeaseCompletion.class);

	private final EngineContext engine;

	private final CompletableFuture<LockLease> future;

	private final JoinableLease lease;

	private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);

	private volatile @Nullable Runnable cancellation;

	LeaseCompletion(EngineContext engine, CompletableFuture<LockLease> future, JoinableLease lease) {
		this.engine = engine;
		this.future = future;
		this.lease = lease;
	}

	@Override
	public void run() {
		if (!this.state.compareAndSet(State.OPEN, State.BEGUN)) {
			this.future.completeExceptionally(this.engine.failures().noCallbackThread(this.lease.keys().get(0)));
			return;
		}
		Runnable present = this.cancellation;
		if (present != null) {
			present.run();
		}
		if (!this.future.complete(this.lease)) {
			this.lease.closeInBackground();
		}
	}

	/** Gives the lock up if the completion has not begun within the call time-out. */
	void giveUpLater() {
		if (this.state.get() == State.OPEN) {
			try {
				this.cancellation = this.engine.environment()
					.schedule(this::giveUp, this.engine.settings().callTimeout().toNanos());
			}
			catch (OutOfMemoryError ex) {
				logger.debug("There is no thread for the timer: the completion is not bounded", ex);
			}
		}
	}

	private void giveUp() {
		if (this.state.compareAndSet(State.OPEN, State.GIVEN_UP)) {
			this.lease.closeInBackground();
		}
	}

	private enum State {

		OPEN, BEGUN, GIVEN_UP

	}

}
