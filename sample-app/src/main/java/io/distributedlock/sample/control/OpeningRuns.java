package io.distributedlock.sample.control;

import java.time.Duration;

import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.SampleProperties;

/**
 * The first two sales, one without the lock and one with it. They end before the web
 * server starts, so that its first answer has both results.
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
