package io.distributedlock.engine.concurrent;

import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;

import io.distributedlock.provider.OwnerId;

/**
 * Generates owner ids without the lock of a {@link SecureRandom}, which would pin virtual
 * threads before JDK 24. The ids are the numbers of a counter, scattered by the mixing
 * function of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", 2014) from two start values of 64 bits that a cryptographically strong
 * source gave. One generator never repeats an id; two generators meet with a probability
 * of 2<sup>-127</sup> for each pair of their ids. They are ids of exclusive grants. Safe
 * for use by many threads.
 */
final class OwnerIdGenerator {

	private static final long GAMMA = 0x9E3779B97F4A7C15L;

	private static final long OTHER_GAMMA = 0xD1342543DE82EF95L;

	private final long high;

	private final long low;

	private final AtomicLong count = new AtomicLong();

	OwnerIdGenerator() {
		SecureRandom random = new SecureRandom();
		this.high = random.nextLong();
		this.low = random.nextLong();
	}

	OwnerId next() {
		long number = this.count.getAndIncrement();
		// With the bit of a share cleared here, so that an exclusive lock needs one
		// object.
		return new OwnerId(mix(this.high + number * GAMMA), mix(this.low + number * OTHER_GAMMA) & ~1L);
	}

	private static long mix(long value) {
		long mixed = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
		mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
		return mixed ^ (mixed >>> 31);
	}

}
