package io.distributedlock.sample.worker;

import io.distributedlock.FencingToken;

/**
 * Exception for a sale that was refused because a later holder of the lock has sold.
 */
class StaleSaleException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final int seat;

	private final transient FencingToken token;

	StaleSaleException(int eventId, int seat, FencingToken token) {
		super("Seat " + seat + " of event " + eventId + " not sold: fencing token " + token + " is outdated");
		this.seat = seat;
		this.token = token;
	}

	int seat() {
		return this.seat;
	}

	FencingToken token() {
		return this.token;
	}

}
