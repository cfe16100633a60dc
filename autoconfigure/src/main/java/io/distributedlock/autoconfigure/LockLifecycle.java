package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;

import org.springframework.context.SmartLifecycle;

import io.distributedlock.provider.Deadline;

/**
 * Lifecycle that stops locking after the web server, executors and message listeners have
 * stopped, and before connections are closed. All engines refuse requests before it waits
 * for the bodies of the first.
 */
final class LockLifecycle implements SmartLifecycle {

	/** Phases stop from the highest down; applications' own mostly have zero. */
	private static final int PHASE = 1024;

	private final LockEngines engines;

	private final Duration grace;

	private volatile boolean running;

	LockLifecycle(LockEngines engines, Duration grace) {
		this.engines = engines;
		this.grace = grace;
	}

	@Override
	public void start() {
		this.engines.all().forEach((engine) -> engine.template().start());
		this.running = true;
	}

	@Override
	public void stop() {
		this.running = false;
		List<ProviderEngine> all = this.engines.all();
		all.forEach((engine) -> engine.template().beginStop());
		Deadline deadline = Deadline.after(this.grace);
		all.forEach((engine) -> engine.template().stop(deadline.remaining()));
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public boolean isPauseable() {
		return false;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
