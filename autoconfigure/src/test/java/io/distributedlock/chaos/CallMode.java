package io.distributedlock.chaos;

import java.util.Random;

/** The ways in which a client asks for a lock. */
enum CallMode {

	/** {@code LockOperations.execute}. */
	EXECUTE(35),
	/** An annotated method. */
	ANNOTATED(25),
	/** {@code LockOperations.acquireAsync}. */
	ASYNC(15),
	/** Two keys at a time. */
	SEVERAL(10),
	/** One attempt. */
	TRY(15);

	private final int weight;

	CallMode(int weight) {
		this.weight = weight;
	}

	static CallMode choose(Random random) {
		int number = random.nextInt(100);
		for (CallMode mode : values()) {
			number -= mode.weight;
			if (number < 0) {
				return mode;
			}
		}
		throw new IllegalStateException("The weights are not 100 together");
	}

}
