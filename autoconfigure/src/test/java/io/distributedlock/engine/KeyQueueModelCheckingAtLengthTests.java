package io.distributedlock.engine;

import io.distributedlock.testkit.Soak;

/** Explores more interleavings than a build has time for. */
@Soak
class KeyQueueModelCheckingAtLengthTests extends KeyQueueModelCheckingTests {

	@Override
	int invocations() {
		return 2_000;
	}

}
