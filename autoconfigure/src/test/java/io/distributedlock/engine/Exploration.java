package io.distributedlock.engine;

import org.jetbrains.lincheck.Lincheck;
import org.jetbrains.lincheck.LincheckAssertionError;

/**
 * Explores the interleavings of a scenario with Lincheck.
 */
final class Exploration {

	private Exploration() {
	}

	/**
	 * Explores a scenario. Where an interleaving takes long, Lincheck says that it hangs;
	 * a pause of the machine looks the same. The exploration is deterministic, so that a
	 * real hang is found again.
	 */
	static void run(int invocations, Runnable scenario) {
		try {
			Lincheck.runConcurrentTest(invocations, scenario);
		}
		catch (LincheckAssertionError ex) {
			if (!String.valueOf(ex.getMessage()).contains("has hung")) {
				throw ex;
			}
			Lincheck.runConcurrentTest(invocations, scenario);
		}
	}

}
