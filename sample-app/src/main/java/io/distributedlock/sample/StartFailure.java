package io.distributedlock.sample;

import org.springframework.boot.web.server.PortInUseException;
import org.springframework.core.NestedExceptionUtils;

import io.distributedlock.LockException;

/**
 * Describes a failed start in one line: what happened, and what to do.
 */
final class StartFailure {

	private StartFailure() {
	}

	static String describe(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof PortInUseException taken) {
				return "Port " + taken.getPort() + " is taken by another program. Stop that, or set another port "
						+ "in the environment: SERVER_PORT=" + (taken.getPort() + 1);
			}
			if (cause instanceof LockException
					|| cause.getClass().getPackageName().startsWith(StartFailure.class.getPackageName())) {
				return oneLine(cause);
			}
		}
		return oneLine(NestedExceptionUtils.getMostSpecificCause(failure));
	}

	private static String oneLine(Throwable failure) {
		String message = failure.getMessage();
		return (message != null) ? message.strip().replaceAll("\\s*\\R\\s*", "; ") : failure.toString();
	}

}
