package io.distributedlock.engine;

import java.util.List;

import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.queue.Acquisition;
import io.distributedlock.engine.queue.RequestDriver;

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
