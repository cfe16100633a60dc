package io.distributedlock.zookeeper.node;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Turns of calls that use something one after the other, while no thread waits. A call
 * that is no longer interested ends its turn too.
 */
public final class CallQueue {

	/** The end of the turn that was added last. */
	private final AtomicReference<CompletableFuture<Boolean>> last = new AtomicReference<>(
			CompletableFuture.completedFuture(true));

	/** Adds a turn, which begins after all others have ended. */
	Turn next() {
		CompletableFuture<Boolean> end = new CompletableFuture<>();
		return new Turn(this.last.getAndSet(end), end);
	}

	/** One turn, which its call has to end. */
	public static final class Turn {

		private final CompletableFuture<Boolean> begun;

		private final CompletableFuture<Boolean> end;

		private Turn(CompletableFuture<Boolean> begun, CompletableFuture<Boolean> end) {
			this.begun = begun;
			this.end = end;
		}

		/** Returns what completes when the turn begins; it never fails. */
		public CompletableFuture<Boolean> begun() {
			return this.begun;
		}

		public boolean hasBegun() {
			return this.begun.isDone();
		}

		/** Ends the turn. One that has not begun ends as soon as it begins. */
		public void end() {
			this.begun.whenComplete((before, failure) -> this.end.complete(true));
		}

	}

}
