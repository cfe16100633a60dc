package io.distributedlock.support;

import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** Explores more interleavings than a build has time for. */
@Tag("soak")
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class HandOffModelCheckingAtLengthTests extends HandOffModelCheckingTests {

	@Override
	int invocations() {
		return MANY;
	}

}
