package io.distributedlock.chaos;

/** The kinds of faults that a run injects. */
enum FaultKind {

	/** kill -9 of a client. */
	KILL(Lane.PROCESSES, 2),
	/** SIGSTOP of a client for less than its lease. */
	STOP_SHORT(Lane.PROCESSES, 3),
	/** SIGSTOP of a client until the store keeps none of its locks. */
	STOP_LONG(Lane.PROCESSES, 4),
	/** Interrupts of all threads of a client that wait for a lock. */
	INTERRUPT(Lane.PROCESSES, 8),
	/** The context of a client closes while bodies run. */
	SHUTDOWN(Lane.PROCESSES, 1),
	/** Each packet from the server comes late. */
	DELAY(Lane.STORE, 3),
	/** Nothing gets through between a client and the server. */
	BLACK_HOLE(Lane.STORE, 2),
	/** A request and all that follows it on its connection gets lost. */
	LOST_REQUEST(Lane.STORE, 4),
	/** A reply and all that follows it on its connection gets lost. */
	LOST_REPLY(Lane.STORE, 4),
	/** A connection is reset in place of a reply. */
	CUT(Lane.STORE, 4),
	/** A stream ends in place of a reply. */
	HALF_CLOSE(Lane.STORE, 3),
	/** SIGSTOP of the server. */
	SERVER_STOP(Lane.STORE, 2),
	/** The server ends and starts again with its data. */
	SERVER_RESTART(Lane.STORE, 1),
	/** The server ends all connections. */
	CONNECTIONS_KILLED(Lane.STORE, 4);

	private final Lane lane;

	private final int weight;

	FaultKind(Lane lane, int weight) {
		this.lane = lane;
		this.weight = weight;
	}

	Lane lane() {
		return this.lane;
	}

	/** How often it is chosen in comparison with the others. */
	int weight() {
		return this.weight;
	}

	/** Whether a process stands still, and nothing of it can end in time. */
	boolean isStop() {
		return this == STOP_SHORT || this == STOP_LONG;
	}

	/** Whether a lock may be lost for it. An interrupt is no reason to lose a lock. */
	boolean explainsLoss() {
		return this != INTERRUPT;
	}

	/** The faults of one lane follow each other; those of two overlap. */
	enum Lane {

		PROCESSES, STORE

	}

}
