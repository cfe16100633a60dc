package io.distributedlock.local;

import io.distributedlock.provider.OwnerId;

/**
 * Who contends in a {@link LocalStore}: a process for a whole key, or for shares of it.
 *
 * @param process the id of the process
 * @param limit the most shares that there may be with its own, 0 for the whole key
 */
record LocalContender(OwnerId process, int limit) {

	boolean isShare() {
		return this.limit > 0;
	}

}
