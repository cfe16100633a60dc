package io.distributedlock.jdbc.rowlock;

/** State of the session that holds a row lock. */
enum SessionState {

	/** The server has answered, and keeps the session until it is idle for a time. */
	ALIVE,
	/** The session has ended, or is about to. */
	ENDED,
	/** It is not known for how long the server keeps the session. */
	UNCLEAR

}
