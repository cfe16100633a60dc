package io.distributedlock.engine;

import java.util.List;

import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.queue.RequestRunner;
import io.distributedlock.engine.queue.RunningRequest;

/** Creates the requests of an engine. */
@FunctionalInterface
interface RequestFactory {

	/**
	 * Creates a request.
	 * @param keys the keys to acquire, some of those of the request
	 * @param request the terms
	 * @param runner who drives the request
	 */
	RunningRequest request(List<LockKey> keys, LockRequest request, RequestRunner runner);

}
