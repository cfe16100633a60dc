package io.distributedlock.sample.control;

/**
 * Exception for a server of the sample that could not be started.
 */
class StoreStartException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	StoreStartException(String server, Throwable cause) {
		super(server + " cannot be started here: " + cause.getMessage(), cause);
	}

}
