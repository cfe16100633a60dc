package io.distributedlock.engine.queue;

/** How a thread waits for a lock. */
public enum WaitMode {

	/** Until the wait time is over; an interrupt ends the wait. */
	LIMITED(false, true),
	/** Until the wait time is over, whether the thread is interrupted or not. */
	LIMITED_UNINTERRUPTED(false, false),
	/** As long as it takes; an interrupt ends the wait. */
	UNLIMITED(true, true),
	/** As long as it takes, whether the thread is interrupted or not. */
	UNLIMITED_UNINTERRUPTED(true, false);

	private final boolean unlimited;

	private final boolean interruptible;

	WaitMode(boolean unlimited, boolean interruptible) {
		this.unlimited = unlimited;
		this.interruptible = interruptible;
	}

	/** Whether only a failing store ends the wait. */
	public boolean isUnlimited() {
		return this.unlimited;
	}

	boolean isInterruptible() {
		return this.interruptible;
	}

}
