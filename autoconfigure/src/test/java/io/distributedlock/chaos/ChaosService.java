package io.distributedlock.chaos;

import java.util.function.Consumer;

import io.distributedlock.LockContext;
import io.distributedlock.LockLease;
import io.distributedlock.LockMode;
import io.distributedlock.annotation.DistributedLock;

/** A bean with locked methods, whose lock is that of other calls with the same key. */
class ChaosService {

	/** The name of all locks of a run. */
	static final String NAME = "chaos";

	static final String WAIT_TIME = "1500ms";

	/** How many shares there are of a key with permits. */
	static final int PERMITS = 2;

	@DistributedLock(name = NAME, key = "#key", waitTime = WAIT_TIME)
	void work(String key, Consumer<LockLease> body) {
		body.accept(LockContext.current());
	}

	@DistributedLock(name = NAME, key = "#key", waitTime = WAIT_TIME, mode = LockMode.SHARED)
	void share(String key, Consumer<LockLease> body) {
		body.accept(LockContext.current());
	}

}
