package io.distributedlock.zookeeper;

/** Listener to the sessions of a {@link SessionTracker}; its methods must not block. */
interface SessionListener {

	/** Receives a session whose connection is back. */
	void connected(Session session);

	/** Receives a session that has ended. */
	void ended(Session session);

}
