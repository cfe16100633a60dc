package io.distributedlock.support;

import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * The release of a grant for a caller who waits for it.
 */
final class GrantRelease {

	private static final Log logger = LogFactory.getLog(GrantRelease.class);

	private GrantRelease() {
	}

	/**
	 * Sends a release, also from an interrupted thread, which stays interrupted.
	 * @param untilNanos the end of the wait by the nano time
	 * @return the answer, {@link ReleaseOutcome#UNKNOWN} if there is none
	 */
	static ReleaseOutcome send(LockProvider provider, LockGrant grant, EngineEnvironment environment,
			long untilNanos) {
		boolean interrupted = Thread.interrupted();
		try {
			StoreCall<ReleaseOutcome> call = provider.release(grant.key(), grant.owner(),
					Duration.ofNanos(Math.max(1, untilNanos - environment.nanoTime())));
			return CallWait.await(call, environment, untilNanos) ? call.result() : ReleaseOutcome.UNKNOWN;
		}
		catch (RuntimeException | Error ex) {
			logger.debug("Store '" + provider.name() + "' failed to release lock '" + grant.key() + "'", ex);
			return ReleaseOutcome.UNKNOWN;
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

}
