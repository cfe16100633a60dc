package io.distributedlock.sample.control;

import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;

/**
 * Sells once without and once with the lock before the web server opens, so that whoever
 * reaches it finds both results.
 */
@Component
@Profile("!" + SampleApplication.WORKER)
class OpeningRuns implements SmartLifecycle {

	private final SalesRuns runs;

	private volatile boolean running;

	OpeningRuns(SalesRuns runs) {
		this.runs = runs;
	}

	@Override
	public void start() {
		this.running = true;
		this.runs.run(false);
		this.runs.run(true);
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
