package io.distributedlock.engine.event;

import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LossReason;
import io.distributedlock.ObserverScope;
import io.distributedlock.provider.HoldObserver;

/**
 * The observers of one hold. There is none where nothing is observed. <pre>
 * nothing      start         started
 * started      end           ended, and its observers are told
 * nothing      end           ended
 * ended        start         ended, and its observers are told both
 * </pre>
 * <p>
 * Invariant: each hold that was started is ended exactly once. A grant may be lost on
 * another thread before the thread that grants it has told the start; so whichever of the
 * two comes second ends the observation, and a second end finds nothing.
 */
public final class HoldObservation {

	private final AtomicReference<@Nullable State> state = new AtomicReference<>();

	/** Starts the hold of a request. */
	void start(AcquireObservation request, FencingToken token) {
		List<HoldObserver> observers = request.startHold(token);
		if (!this.state.compareAndSet(null, new State(observers, false, null))) {
			State ended = this.state.get();
			end(observers, (ended != null) ? ended.loss() : null);
		}
	}

	/**
	 * Ends the hold, once.
	 * @param loss why it was lost, or {@code null} if it was released
	 */
	void end(@Nullable LossReason loss) {
		State before = this.state.getAndUpdate(
				(present) -> (present != null && present.ended()) ? present : new State(List.of(), true, loss));
		if (before != null && !before.ended()) {
			end(before.observers(), loss);
		}
	}

	private static void end(List<HoldObserver> observers, @Nullable LossReason loss) {
		ObserverCalls.each(observers, (observer) -> observer.onEnd(loss));
	}

	/** Opens the scopes of the observers on this thread, unless the hold has ended. */
	@Nullable ObserverScope openScope() {
		State present = this.state.get();
		if (present == null || present.ended()) {
			return null;
		}
		return scope(ObserverCalls.collect(present.observers(), HoldObserver::openScope));
	}

	/** Combines scopes, in the order in which they were opened. */
	public static @Nullable ObserverScope scope(List<ObserverScope> opened) {
		return opened.isEmpty() ? null : () -> {
			for (int i = opened.size() - 1; i >= 0; i--) {
				ObserverCalls.each(List.of(opened.get(i)), ObserverScope::close);
			}
		};
	}

	/**
	 * The state after the start or the end.
	 *
	 * @param observers the observers that are to be told the end
	 * @param ended whether the hold has ended
	 * @param loss why it was lost, if it was
	 */
	private record State(List<HoldObserver> observers, boolean ended, @Nullable LossReason loss) {
	}

}
