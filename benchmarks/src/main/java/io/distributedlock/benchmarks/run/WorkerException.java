package io.distributedlock.benchmarks.run;

/**
 * A contender failed in its JVM.
 */
final class WorkerException extends RuntimeException {

	WorkerException(String message) {
		super(message);
	}

	@Override
	@SuppressWarnings("OverrideThrowableToString") // leaves out the name of the class
	public String toString() {
		return String.valueOf(getMessage());
	}

}
