package io.distributedlock.zookeeper.session;

/** Listener to the sessions of a {@link SessionTracker}; its methods must not block. */
public interface SessionListener {

	/**
	 * Receives a session that is set up, also again after a node was missing, or whose
	 * connection is back.
	 */
	void connected(Session session);

	/** Receives a session that has ended. */
	void ended(Session session);

}
