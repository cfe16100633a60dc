package io.distributedlock.redis;

/**
 * The look at a call right before its command is sent. A connection is there by then:
 * opening one, or waiting for one of a pool, may have taken longer than the call may.
 */
@FunctionalInterface
interface SendCheck {

	/**
	 * Requires that the caller still waits. From now on the command counts as sent.
	 * @throws io.distributedlock.LockProviderException if the call was abandoned or its
	 * time is over; the command is not sent then
	 */
	void beginSend();

}
