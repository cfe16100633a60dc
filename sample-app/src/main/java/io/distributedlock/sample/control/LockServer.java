package io.distributedlock.sample.control;

import java.util.Map;

/**
 * A server of this process's own that keeps the locks, beside the database.
 */
interface LockServer {

	/**
	 * Names the profile that has the locks there.
	 * @return the profile, for the workers as well
	 */
	String profile();

	/**
	 * Tells workers how to get there.
	 * @return variables of their environment
	 */
	Map<String, String> workerEnvironment();

}
