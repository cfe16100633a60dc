package io.distributedlock.engine;

import io.distributedlock.testkit.Soak;

/** Runs more simulations than a build has time for. */
@Soak
class EngineSimulationAtLengthTests extends EngineSimulationTests {

	@Override
	long seeds() {
		return 1_000_000;
	}

}
