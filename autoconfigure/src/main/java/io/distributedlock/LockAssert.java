package io.distributedlock;

import java.util.function.Predicate;

/**
 * Assertions that the current thread runs under a lock. They make a method fail that is
 * called without its proxy, and so without its lock, such as by another method of its own
 * object. They ask no store.
 *
 * @since 0.1.0
 * @see LockContext
 */
public final class LockAssert {

	private LockAssert() {
	}

	/**
	 * Asserts that this thread runs under any lock. A transaction may keep another lock
	 * than the one that is meant: prefer the methods that name it.
	 * @throws LockConfigurationException if it runs under none
	 * @throws LockLostException if the innermost one was lost
	 */
	public static void assertHeld() {
		assertHeld((key) -> true, "No lock is held on this thread");
	}

	/**
	 * Asserts that this thread runs under a lock with a name, whatever the rest of its
	 * key is.
	 * @param name the name, such as that of the annotation
	 * @throws LockConfigurationException if it does not
	 * @throws LockLostException if that lock was lost
	 */
	public static void assertHeld(String name) {
		assertHeld((key) -> key.name().equals(name), "No lock with the name '" + name + "' is held on this thread");
	}

	/**
	 * Asserts that this thread runs under the lock of a key.
	 * @param key the key
	 * @throws LockConfigurationException if it does not
	 * @throws LockLostException if that lock was lost
	 */
	public static void assertHeld(LockKey key) {
		assertHeld(key::equals, "Lock '" + key + "' is not held on this thread");
	}

	private static void assertHeld(Predicate<LockKey> meant, String problem) {
		for (LockLease lease : LockContext.findAll()) {
			if (lease.keys().stream().anyMatch(meant)) {
				lease.ensureHeld();
				return;
			}
		}
		throw new LockConfigurationException(LockError.NOT_LOCKED, problem,
				"Call the method through the bean that Spring injects, not on 'this', or run it by LockOperations.execute");
	}

}
