package io.distributedlock.sample.control;

import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;

/**
 * The first two sales, one without the lock and one with it, once the workers are ready.
 * Who has opened the page by then sees them.
 */
@Component
@Profile("!" + SampleApplication.WORKER)
class OpeningRuns implements SmartLifecycle {

	private final SalesRuns runs;

	private final SaleDefaults defaults;

	private volatile boolean running;

	OpeningRuns(SalesRuns runs, SaleDefaults defaults) {
		this.runs = runs;
		this.defaults = defaults;
	}

	@Override
	public void start() {
		this.running = true;
		this.runs.run(this.defaults.settings(false));
		this.runs.run(this.defaults.settings(true));
	}

	@Override
	public void stop() {
		this.running = false;
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return WorkerPool.PHASE + 1;
	}

}
