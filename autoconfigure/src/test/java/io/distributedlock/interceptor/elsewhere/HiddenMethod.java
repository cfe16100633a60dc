package io.distributedlock.interceptor.elsewhere;

import io.distributedlock.annotation.DistributedLock;

/**
 * Its locked method is out of reach for a subclass, and so a proxy, in another package.
 */
public class HiddenMethod {

	@DistributedLock
	void run() {
	}

}
