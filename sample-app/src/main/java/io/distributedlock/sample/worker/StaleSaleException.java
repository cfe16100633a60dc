package io.distributedlock.sample.worker;

/**
 * A sale was refused because a later holder of the lock has already sold.
 */
class StaleSaleException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	StaleSaleException(int eventId, int seat, long token) {
		super("Seat " + seat + " of event " + eventId + " not sold: fencing token " + token + " is outdated");
	}

}
