package io.distributedlock;

import java.util.List;
import java.util.function.BiPredicate;

/**
 * Assertions for a body that must not run without its lock: they fail where a call has
 * not passed the proxy or {@link LockOperations#execute}.
 * <p>
 * They look at the scopes of the calling thread ({@link LockContext}), and ask the local
 * deadline, not the store. Name the lock: without a name any lock of the thread counts,
 * such as one that an enclosing call holds, or that a transaction keeps. In a reactive
 * flow use {@code ReactiveLockContext.current()}.
 *
 * @since 0.1.0
 */
public final class LockAssert {

	private LockAssert() {
	}

	/**
	 * Asserts that this thread runs under a lock, whichever it is.
	 * @throws LockConfigurationException if it runs under none
	 * @throws LockLostException if the innermost one was lost
	 */
	public static void assertHeld() {
		assertHeld((lease, key) -> true, "a lock");
	}

	/**
	 * Asserts that this thread runs under a lock of a name, with any parts.
	 * @param name the name of the lock, as in {@link LockKey#name()}
	 * @throws LockConfigurationException if it does not
	 * @throws LockLostException if that lock was lost
	 */
	public static void assertHeld(String name) {
		assertHeld((lease, key) -> key.name().equals(name), "a lock named '" + name + "'");
	}

	/**
	 * Asserts that this thread runs under the lock of a key.
	 * @param key the key
	 * @throws LockConfigurationException if it does not
	 * @throws LockLostException if that lock was lost
	 */
	public static void assertHeld(LockKey key) {
		assertHeld((lease, held) -> held.equals(key), "lock '" + key + "'");
	}

	/**
	 * Asserts that this thread runs under the lock of a key in a mode, such as a writer
	 * that must not run beside readers. An exclusive lock counts for each mode.
	 * @param key the key
	 * @param mode the mode
	 * @throws LockConfigurationException if it does not
	 * @throws LockLostException if that lock was lost
	 */
	public static void assertHeld(LockKey key, LockMode mode) {
		assertHeld((lease, held) -> held.equals(key) && covers(lease.mode(held), mode),
				"lock '" + key + "' in the mode " + mode);
	}

	/**
	 * Asserts that this thread runs under a lock of a name in a mode. An exclusive lock
	 * counts for each mode.
	 * @param name the name of the lock, or of a locked method
	 * @param mode the mode
	 * @throws LockConfigurationException if it does not
	 * @throws LockLostException if that lock was lost
	 */
	public static void assertHeld(String name, LockMode mode) {
		assertHeld((lease, held) -> held.name().equals(name) && covers(lease.mode(held), mode),
				"a lock named '" + name + "' in the mode " + mode);
	}

	private static boolean covers(LockMode held, LockMode mode) {
		return held == mode || held == LockMode.EXCLUSIVE;
	}

	private static String describe(LockKey key, LockMode mode) {
		return (mode == LockMode.EXCLUSIVE) ? key.toString() : key + " in the mode " + mode;
	}

	private static void assertHeld(BiPredicate<LockLease, LockKey> sought, String description) {
		List<LockLease> enclosing = LockContext.findAll();
		for (LockLease lease : enclosing) {
			if (lease.keys().stream().anyMatch((key) -> sought.test(lease, key))) {
				if (lease.lossReason() != null) {
					lease.ensureHeld();
				}
				if (lease.isHeld()) {
					return;
				}
			}
		}
		List<String> others = enclosing.stream()
			.filter(LockLease::isHeld)
			.flatMap((lease) -> lease.keys().stream().map((key) -> describe(key, lease.mode(key))))
			.distinct()
			.toList();
		throw new LockConfigurationException(LockError.NOT_LOCKED,
				"Thread '" + Thread.currentThread().getName() + "' does not run under " + description
						+ (others.isEmpty() ? "" : ", but under " + others),
				"Call the locked method through its Spring proxy, not on 'this' or on an object made with new, or call"
						+ " this code inside LockOperations.execute");
	}

}
