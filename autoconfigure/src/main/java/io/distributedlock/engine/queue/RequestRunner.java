package io.distributedlock.engine.queue;

/**
 * Whoever drives a request from step to step: a thread that parks in between, or nobody's
 * thread.
 */
public interface RequestRunner {

	/** Causes the next step. Any thread may call it at any time; it does not block. */
	void signal();

	/** Whether a step may block for a round trip: it runs on the requester's thread. */
	boolean mayBlock();

	/**
	 * Whether the request waits longer than its wait time, which bounds failures only.
	 */
	default boolean waitsUnlimited() {
		return false;
	}

	/** Returns the name of the requester, for people. */
	String requester();

}
