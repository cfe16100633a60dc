package io.distributedlock.micrometer;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The names of locks that are tags. Names are expected to be few; all names beyond the
 * first thousand share one. Safe for use by many threads.
 */
final class LockNames {

	static final int MAX_NAMES = 1000;

	/** The name that all further ones share. */
	static final String OTHER = "(other)";

	private final Set<String> known = ConcurrentHashMap.newKeySet();

	/**
	 * Returns the tag of a name, which does not change: the set never shrinks.
	 */
	String bounded(String name) {
		if (this.known.contains(name)) {
			return name;
		}
		if (this.known.size() >= MAX_NAMES) {
			return OTHER;
		}
		this.known.add(name);
		return name;
	}

}
