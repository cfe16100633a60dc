package io.distributedlock.engine.grant;

/** Settings that renew more often than applications do. */
public final class EarlyRenewals {

	private EarlyRenewals() {
	}

	/**
	 * Returns settings that renew a lease after another part of it than a third.
	 * @param fraction the part, more than 0 and at most a half
	 * @param settings all other settings
	 */
	public static LockSettings after(double fraction, LockSettings settings) {
		return settings.withRenewalFraction(fraction);
	}

}
