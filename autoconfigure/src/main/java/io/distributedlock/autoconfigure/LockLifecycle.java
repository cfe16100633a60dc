package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.SmartLifecycle;

import io.distributedlock.provider.Deadline;

/**
 * Lifecycle that stops locking after the web server, executors and message listeners have
 * stopped, and before connections are closed. All engines refuse requests before it waits
 * for the bodies of the first.
 */
final class LockLifecycle implements SmartLifecycle, LockEngineListener {

	/** Phases stop from the highest down; applications' own mostly have zero. */
	private static final int PHASE = 1024;

	private final ConfigurableListableBeanFactory beanFactory;

	private final Supplier<Duration> grace;

	private volatile boolean running;

	/** Whether a stop came last, not a start; see {@link #created}. */
	private volatile boolean stopped;

	/**
	 * Creates a lifecycle.
	 * @param beanFactory the factory, which has engines once something needs locks
	 * @param grace supplies how long held locks are kept after a stop
	 */
	LockLifecycle(ConfigurableListableBeanFactory beanFactory, Supplier<Duration> grace) {
		this.beanFactory = beanFactory;
		this.grace = grace;
	}

	@Override
	public void start() {
		this.stopped = false;
		this.running = true;
		LockEngines.created(this.beanFactory).forEach((engine) -> engine.template().start());
	}

	@Override
	public void stop() {
		this.running = false;
		this.stopped = true;
		List<ProviderEngine> all = LockEngines.created(this.beanFactory);
		if (all.isEmpty()) {
			return;
		}
		all.forEach((engine) -> engine.template().beginStop());
		Deadline deadline = Deadline.after(this.grace.get());
		all.forEach((engine) -> engine.template().stop(deadline.remaining()));
	}

	/**
	 * Stops an engine that is created after a stop. The flag is set before a stop or a
	 * start looks for engines under the same lock: either finds the engine, or the engine
	 * finds the flag. The engine holds nothing yet, so that nothing waits.
	 */
	@Override
	public void created(ProviderEngine engine) {
		if (this.stopped) {
			engine.template().stop(Duration.ZERO);
		}
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
