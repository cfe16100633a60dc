package io.distributedlock.engine.event;

import java.util.ArrayDeque;
import java.util.Deque;

import org.jspecify.annotations.Nullable;

import io.distributedlock.engine.concurrent.SerialQueue;

/**
 * A stack of the actions that run at the loss of a lock, the latest first; after the loss
 * only the queue that runs them. Immutable.
 *
 * @param action the latest action, or {@code null} after the loss
 * @param earlier the actions before it, or {@code null} if there are none
 * @param queue the queue, or {@code null} before the loss
 */
public record LossActions(@Nullable LossAction action, @Nullable LossActions earlier, @Nullable SerialQueue queue) {

	public boolean contains(LossAction sought) {
		for (LossActions rest = this; rest != null; rest = rest.earlier) {
			if (rest.action == sought) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Removes an action, which the stack contains.
	 * @return the other actions, or {@code null} if there are none
	 */
	public @Nullable LossActions without(LossAction removed) {
		Deque<LossAction> later = new ArrayDeque<>(0);
		LossActions rest = this;
		for (; rest != null && rest.action != removed; rest = rest.earlier) {
			if (rest.action != null) {
				later.push(rest.action);
			}
		}
		LossActions others = (rest != null) ? rest.earlier : null;
		for (LossAction each : later) {
			others = new LossActions(each, others, null);
		}
		return others;
	}

	/** Returns the actions, the earliest first. */
	public Deque<LossAction> inOrder() {
		Deque<LossAction> all = new ArrayDeque<>();
		for (LossActions rest = this; rest != null; rest = rest.earlier) {
			if (rest.action != null) {
				all.push(rest.action);
			}
		}
		return all;
	}

}
