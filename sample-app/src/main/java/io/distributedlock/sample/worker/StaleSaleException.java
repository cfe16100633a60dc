package io.distributedlock.sample.worker;

/**
 * Exception for a sale that was refused because a later holder of the lock has sold.
 */
class StaleSaleException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final int seat;

	private final long token;

	StaleSaleException(int eventId, int seat, long token) {
		super("Seat " + seat + " of event " + eventId + " not sold: fencing token " + token + " is outdated");
		this.seat = seat;
		this.token = token;
	}

	int seat() {
		return this.seat;
	}

	long token() {
		return this.token;
	}

}
