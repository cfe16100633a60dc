package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.springframework.context.SmartLifecycle;

import io.distributedlock.support.LockTemplate;

/**
 * Lifecycle that stops locking after the web server, executors and message listeners have
 * stopped, and before connections are closed.
 */
final class LockLifecycle implements SmartLifecycle {

	/** Phases stop from the highest down; applications' own mostly have zero. */
	private static final int PHASE = 1024;

	private final LockTemplate template;

	private final Duration grace;

	private volatile boolean running;

	LockLifecycle(LockTemplate template, Duration grace) {
		this.template = template;
		this.grace = grace;
	}

	@Override
	public void start() {
		this.template.start();
		this.running = true;
	}

	@Override
	public void stop() {
		this.running = false;
		this.template.stop(this.grace);
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
