package io.distributedlock.autoconfigure;

import io.distributedlock.LockContext;
import io.distributedlock.annotation.DistributedLock;

/** Class of a library, which DevTools does not load again. */
public class NotRestarted {

	@DistributedLock(name = "library")
	public String visible() {
		return LockContext.current().keys().toString();
	}

}
