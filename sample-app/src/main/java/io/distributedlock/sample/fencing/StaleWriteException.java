package io.distributedlock.sample.fencing;

import io.distributedlock.FencingToken;

/**
 * Exception for a write that was refused because a later holder of the lock has written.
 */
public class StaleWriteException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	StaleWriteException(String name, FencingToken token) {
		super("'" + name + "' not written: fencing token " + token + " is outdated");
	}

}
