package io.distributedlock.engine.renewal;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.engine.event.GrantHandle;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.HeldGrants;
import io.distributedlock.provider.DeadlineTimer;
import io.distributedlock.provider.SessionDeadline;

/**
 * A watch that reports a loss at the deadline even if the application does not check: one
 * signal of the timer for all held locks, at the earliest deadline. {@code isHeld()} does
 * not depend on it.
 */
public final class ExpiryWatch {

	private static final Log logger = LogFactory.getLog(ExpiryWatch.class);

	private final HeldGrants heldGrants;

	private final DeadlineTimer nextDeadline;

	/**
	 * A single instance, so that a session keeps it once. The check runs on the timer.
	 */
	private final Runnable shortened;

	public ExpiryWatch(HeldGrants heldGrants, EngineEnvironment environment) {
		this.heldGrants = heldGrants;
		this.nextDeadline = new DeadlineTimer(environment::nanoTime, environment::schedule, this::check);
		this.shortened = () -> this.nextDeadline.setAt(environment.nanoTime());
	}

	public void watch(HeldGrant heldGrant) {
		SessionDeadline session = heldGrant.grant().sessionDeadline();
		if (session != null) {
			session.onShortened(this.shortened);
		}
		this.nextDeadline.setAt(heldGrant.deadlineNanos());
	}

	private void check() {
		for (HeldGrant heldGrant : this.heldGrants.all()) {
			try {
				boolean held = false;
				for (GrantHandle hold : heldGrant.holds()) {
					held |= hold.isHeld();
				}
				if (held) {
					this.nextDeadline.setAt(heldGrant.deadlineNanos());
				}
			}
			catch (RuntimeException | Error ex) {
				logger.error("The loss of lock '" + heldGrant.key() + "' could not be reported", ex);
			}
		}
	}

}
