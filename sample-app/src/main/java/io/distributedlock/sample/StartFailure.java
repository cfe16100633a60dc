package io.distributedlock.sample;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.web.server.PortInUseException;

import io.distributedlock.LockException;

/**
 * Describes a failed start in one line: what happened, and what to do.
 */
final class StartFailure {

	private StartFailure() {
	}

	static String describe(Throwable failure) {
		@Nullable Throwable outer = null;
		Throwable cause = failure;
		while (true) {
			if (cause instanceof PortInUseException taken) {
				return "Port " + taken.getPort() + " is taken by another program. Stop that, or choose another port by "
						+ "an environment variable, such as SERVER_PORT=" + (taken.getPort() + 1);
			}
			if (cause instanceof LockException || isOurs(cause)) {
				return oneLine(cause);
			}
			Throwable inner = cause.getCause();
			if (inner == null || inner == cause) {
				return ((outer != null) ? oneLine(outer) + ": " : "") + oneLine(cause);
			}
			outer = cause;
			cause = inner;
		}
	}

	private static boolean isOurs(Throwable failure) {
		return failure.getClass().getPackageName().startsWith(StartFailure.class.getPackageName());
	}

	private static String oneLine(Throwable failure) {
		String message = failure.getMessage();
		return (message != null) ? message.strip().replaceAll("\\s*\\R\\s*", "; ") : failure.toString();
	}

}
