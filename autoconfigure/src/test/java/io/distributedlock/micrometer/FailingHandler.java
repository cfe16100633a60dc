package io.distributedlock.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;

/** A handler that fails when a scope is opened, and when an error is recorded. */
final class FailingHandler implements ObservationHandler<Observation.Context> {

	@Override
	public void onScopeOpened(Observation.Context context) {
		throw new IllegalStateException("opened");
	}

	@Override
	public void onError(Observation.Context context) {
		throw new IllegalStateException("error");
	}

	@Override
	public boolean supportsContext(Observation.Context context) {
		return true;
	}

}
