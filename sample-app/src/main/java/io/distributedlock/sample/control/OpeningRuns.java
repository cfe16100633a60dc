package io.distributedlock.sample.control;

import java.time.Duration;

import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.SampleProperties;

/**
 * Sells once without and once with the lock before the web server opens, so that whoever
 * reaches it finds both results.
 */
@Component
@Profile("!" + SampleApplication.WORKER)
class OpeningRuns implements SmartLifecycle {

	private final SalesRuns runs;

	private final Duration thinkTime;

	private volatile boolean running;

	OpeningRuns(SalesRuns runs, SampleProperties properties) {
		this.runs = runs;
		this.thinkTime = properties.thinkTime();
	}

	@Override
	public void start() {
		this.running = true;
		this.runs.run(false, this.thinkTime);
		this.runs.run(true, this.thinkTime);
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
