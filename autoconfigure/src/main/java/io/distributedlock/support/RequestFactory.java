package io.distributedlock.support;

import java.util.List;

import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;

/** Creates the requests of an engine. */
@FunctionalInterface
interface RequestFactory {

	/**
	 * Creates a request.
	 * @param keys the keys to acquire, some of those of the request
	 * @param request the terms
	 * @param driver who drives the request
	 */
	Acquisition request(List<LockKey> keys, LockRequest request, RequestDriver driver);

}
