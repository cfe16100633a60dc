package io.distributedlock.sample.control;

import java.util.Map;

/**
 * Server within the sample that keeps the locks, beside the database.
 */
interface LockServer {

	/**
	 * Returns the settings with which workers connect to the server.
	 * @return variables of their environment
	 */
	Map<String, String> workerEnvironment();

}
