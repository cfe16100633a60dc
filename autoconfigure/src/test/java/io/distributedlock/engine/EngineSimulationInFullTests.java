package io.distributedlock.engine;

import org.junit.jupiter.api.Tag;

/** Runs more simulations than each build has time for. */
@Tag("full")
class EngineSimulationInFullTests extends EngineSimulationTests {

	@Override
	long seeds() {
		return 2_000;
	}

}
