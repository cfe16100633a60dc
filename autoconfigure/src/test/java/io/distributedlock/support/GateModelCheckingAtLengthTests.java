package io.distributedlock.support;

import org.junit.jupiter.api.Tag;

/** Explores more interleavings than a build has time for. */
@Tag("soak")
class GateModelCheckingAtLengthTests extends GateModelCheckingTests {

	@Override
	int invocations() {
		return 20_000;
	}

}
