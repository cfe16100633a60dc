package io.distributedlock.sample.control;

import io.distributedlock.FencingToken;

/**
 * The process that holds the lock, as the page and the endpoint show it.
 *
 * @param pid the holding process
 * @param token the first fencing token of its grant, as text, because readers of JSON
 * round such numbers
 */
record HoldingProcess(long pid, String token) {

	/**
	 * Creates it from the label of a holder (host and process id) and the order of its
	 * grant.
	 */
	static HoldingProcess of(String label, long order) {
		long pid = Long.parseLong(label.substring(label.lastIndexOf(':') + 1));
		return new HoldingProcess(pid, Long.toString(FencingToken.of(order, 0).value()));
	}

}
