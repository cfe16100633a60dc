package io.distributedlock.sample.control;

import io.distributedlock.FencingToken;

/**
 * Who holds the lock.
 *
 * @param pid the holding process
 * @param token the first fencing token of its grant, as text: JSON's readers round such
 * numbers
 */
record LockHolder(long pid, String token) {

	/** Reads the holder's label, host and process id, and the order of its grant. */
	static LockHolder of(String label, long order) {
		long pid = Long.parseLong(label.substring(label.lastIndexOf(':') + 1));
		return new LockHolder(pid, Long.toString(FencingToken.of(order, 0).value()));
	}

}
