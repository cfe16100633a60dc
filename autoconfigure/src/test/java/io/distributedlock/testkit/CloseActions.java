package io.distributedlock.testkit;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The ends of what a test has opened: one that fails keeps no other from being closed.
 */
final class CloseActions {

	private CloseActions() {
	}

	/** Runs all actions, and then throws the first failure with the others in it. */
	static void runAll(List<Runnable> actions) {
		Throwable failure = null;
		for (Runnable action : actions) {
			failure = run(action, failure);
		}
		if (failure instanceof Error error) {
			throw error;
		}
		if (failure instanceof RuntimeException ex) {
			throw ex;
		}
	}

	private static @Nullable Throwable run(Runnable action, @Nullable Throwable earlier) {
		try {
			action.run();
			return earlier;
		}
		catch (RuntimeException | Error ex) {
			if (earlier == null) {
				return ex;
			}
			earlier.addSuppressed(ex);
			return earlier;
		}
	}

}
