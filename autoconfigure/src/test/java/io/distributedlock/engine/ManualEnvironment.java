package io.distributedlock.engine;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.provider.OwnerId;

/**
 * An environment without threads and with a clock that stands still: a test runs what the
 * engine hands over when it wants to.
 */
public class ManualEnvironment implements EngineEnvironment {

	private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

	private final Queue<Runnable> signals = new ConcurrentLinkedQueue<>();

	private final AtomicLong owners = new AtomicLong();

	private final AtomicLong now = new AtomicLong();

	private volatile @Nullable Error ownerIdFailure;

	@Override
	public long nanoTime() {
		return this.now.get();
	}

	/** Moves the clock on. */
	void advance(long nanos) {
		this.now.addAndGet(nanos);
	}

	@Override
	public Runnable schedule(Runnable signal, long delayNanos) {
		this.signals.add(signal);
		return () -> this.signals.remove(signal);
	}

	/** Gives the signals that are scheduled now, whenever they are due. */
	public void runSignals() {
		for (int left = this.signals.size(); left > 0; left--) {
			Runnable signal = this.signals.poll();
			if (signal != null) {
				signal.run();
			}
		}
	}

	/**
	 * Returns an id without making or reading a text: Lincheck explores nothing that
	 * follows a loop of many iterations.
	 */
	@Override
	public OwnerId newOwnerId() {
		Error failure = this.ownerIdFailure;
		if (failure != null) {
			this.ownerIdFailure = null;
			throw failure;
		}
		return new OwnerId(0, this.owners.addAndGet(2));
	}

	/** Lets the next owner id fail. */
	void failNextOwnerId(Error failure) {
		this.ownerIdFailure = failure;
	}

	@Override
	public double nextDouble() {
		return 0.5;
	}

	@Override
	public Executor executor(Work work) {
		return this.tasks::add;
	}

	/** Runs all tasks that were handed over, and those that follow. */
	public void runTasks() {
		for (Runnable task = this.tasks.poll(); task != null; task = this.tasks.poll()) {
			task.run();
		}
	}

}
