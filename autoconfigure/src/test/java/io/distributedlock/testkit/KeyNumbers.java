package io.distributedlock.testkit;

import java.util.concurrent.atomic.AtomicInteger;

/** Numbers that make the keys of the tests in this JVM unique. */
final class KeyNumbers {

	private static final AtomicInteger last = new AtomicInteger();

	private KeyNumbers() {
	}

	static int next() {
		return last.incrementAndGet();
	}

}
