package io.distributedlock.engine;

import io.distributedlock.testkit.Soak;

/** Explores more interleavings than a build has time for. */
@Soak
class HandOffModelCheckingAtLengthTests extends HandOffModelCheckingTests {

	@Override
	int invocations() {
		return MANY;
	}

}
