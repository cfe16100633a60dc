package io.distributedlock.chaos;

import java.util.function.Consumer;

import io.distributedlock.LockContext;
import io.distributedlock.LockLease;
import io.distributedlock.annotation.DistributedLock;

/**
 * The locked method of {@link ChaosService} that a store without permits refuses at the
 * start of the application.
 */
class ChaosPermits {

	@DistributedLock(name = ChaosService.NAME, key = "#key", waitTime = ChaosService.WAIT_TIME,
			permits = ChaosService.PERMITS)
	void permit(String key, Consumer<LockLease> body) {
		body.accept(LockContext.current());
	}

}
