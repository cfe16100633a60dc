package io.distributedlock.chaos;

/**
 * What the history tells of one key of one call. Times are nanoseconds, absent if the
 * event is not in the history.
 */
final class LockCall {

	/** More than any other time. */
	static final long NEVER = Long.MAX_VALUE;

	private final HistoryEvent called;

	private final String mode;

	private final int permits;

	private End end = End.NONE;

	private long endedAt = NEVER;

	private long token;

	private long heldUntil;

	private long lostAt = NEVER;

	private long releaseAt = NEVER;

	private long releasedAt = NEVER;

	LockCall(HistoryEvent called) {
		String[] how = called.detail().split(" ");
		this.called = called;
		this.mode = how[0];
		this.permits = Integer.parseInt(how[1]);
	}

	void add(HistoryEvent event) {
		switch (event.kind()) {
			case GRANTED -> {
				this.end = End.GRANTED;
				this.endedAt = event.at();
				this.token = event.value();
			}
			case ENDED -> {
				this.end = End.valueOf(event.detail());
				this.endedAt = event.at();
			}
			case HELD -> this.heldUntil = Math.max(this.heldUntil, event.at());
			case LOST -> this.lostAt = Math.min(this.lostAt, event.at());
			case RELEASE -> {
				this.releaseAt = event.at();
				this.heldUntil = (event.value() == 1) ? Math.max(this.heldUntil, event.at()) : this.heldUntil;
			}
			case RELEASED -> this.releasedAt = event.at();
			default -> throw new IllegalArgumentException(event.toString());
		}
	}

	String id() {
		return this.called.call();
	}

	String process() {
		return this.called.process();
	}

	String key() {
		return this.called.key();
	}

	/** How the call was made. */
	String mode() {
		return this.mode;
	}

	/** The most shares that there may be at a time, or 0 if it is exclusive. */
	int permits() {
		return this.permits;
	}

	/** Whether it cannot have the lock beside another one. */
	boolean excludes(LockCall other) {
		return this.permits == 0 || other.permits == 0;
	}

	/** Whether it may join the share that its process has. */
	boolean mayJoin() {
		return this.permits == Integer.MAX_VALUE;
	}

	long calledAt() {
		return this.called.at();
	}

	/** The time within which it has to end. */
	long limit() {
		return this.called.value();
	}

	End end() {
		return this.end;
	}

	boolean isGranted() {
		return this.end == End.GRANTED;
	}

	/** When it has returned, with the lock or without it. */
	long endedAt() {
		return this.endedAt;
	}

	long token() {
		return this.token;
	}

	/** The last time at which the lock is known to have been held, or 0. */
	long heldUntil() {
		return this.heldUntil;
	}

	boolean isLost() {
		return this.lostAt != NEVER;
	}

	long lostAt() {
		return this.lostAt;
	}

	/** When the work under the lock was over. */
	long releaseAt() {
		return this.releaseAt;
	}

	/** Whether the lock was held until the work was over. */
	boolean isHeldToTheEnd() {
		return this.releaseAt == this.heldUntil;
	}

	long releasedAt() {
		return this.releasedAt;
	}

	@Override
	public String toString() {
		return id() + " (" + this.called.detail() + ") of " + key();
	}

	/** How a call has ended. */
	enum End {

		/** It has not. */
		NONE,
		/** With the lock. */
		GRANTED,
		/** The lock was busy for the wait time. */
		BUSY,
		/** The store could not answer. */
		FAILED,
		/** The thread was interrupted. */
		INTERRUPTED,
		/** The process shuts down. */
		SHUTDOWN,
		/** In a way that is not documented. */
		UNKNOWN

	}

}
