package io.distributedlock.chaos;

import java.util.Random;

/** The ways in which a client asks for a lock. */
enum CallMode {

	/** {@code LockOperations.execute}. */
	EXECUTE,
	/** An annotated method. */
	ANNOTATED,
	/** {@code LockOperations.acquireAsync}. */
	ASYNC,
	/** Two keys at a time. */
	SEVERAL,
	/** One attempt. */
	TRY;

	static CallMode choose(Random random) {
		int number = random.nextInt(100);
		return (number < 35) ? EXECUTE
				: (number < 60) ? ANNOTATED : (number < 75) ? ASYNC : (number < 85) ? SEVERAL : TRY;
	}

}
