package io.distributedlock.support;

import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** Runs more simulations than a build has time for. */
@Tag("soak")
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class EngineSimulationAtLengthTests extends EngineSimulationTests {

	@Override
	long seeds() {
		return 1_000_000;
	}

}
