package io.distributedlock.sample.control;

/**
 * Exception for a worker that could not be started.
 */
class WorkerStartException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	WorkerStartException(String message, Throwable cause) {
		super(message, cause);
	}

	WorkerStartException(String message) {
		super(message);
	}

}
