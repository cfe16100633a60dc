package io.distributedlock.redis.script;

/**
 * The caller of a script, who is asked right before its command is sent. A connection is
 * there by then: opening one, or waiting for one of a pool, may have taken longer than
 * the call may.
 */
@FunctionalInterface
public interface SendGuard {

	/**
	 * Requires that the caller still waits. From now on the command counts as sent.
	 * @throws io.distributedlock.LockProviderException if the call was abandoned or its
	 * time is over; the command is not sent then
	 */
	void beginSend();

	/**
	 * Receives a reply that WAIT cannot change, before the connection is free.
	 * @param reply the reply to a script that granted and renewed nothing
	 */
	default void onEarlyReply(ScriptReply reply) {
	}

}
