package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.event.LockEventPublisher;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.LockObserver;

/** An engine over a store, a clock and threads of which a test decides everything. */
final class ManualEngine {

	static final LockKey KEY = LockKey.of("seats", "13A");

	static final LockRequest REQUEST = LockRequest.of(KEY).withWaitTime(Duration.ofSeconds(10));

	final ManualEnvironment environment;

	final ManualProvider provider;

	final LockEngine engine;

	ManualEngine(boolean answersAtOnce) {
		this(answersAtOnce, LockSettings.defaults().withMaxHandOffTime(null));
	}

	ManualEngine(boolean answersAtOnce, LockSettings settings, LockObserver... observers) {
		this(new ManualEnvironment(), answersAtOnce, settings, observers);
	}

	ManualEngine(ManualEnvironment environment, boolean answersAtOnce, LockSettings settings,
			LockObserver... observers) {
		this.environment = environment;
		this.provider = new ManualProvider(answersAtOnce);
		this.engine = new LockEngine(this.provider, settings, this.environment,
				new LockEventPublisher(this.environment, List.of(observers), List.of()), EnclosingTransaction.NONE,
				() -> {
				});
	}

	/** Returns a request of a thread that waits. */
	ManualRequester requester() {
		return requester(REQUEST);
	}

	ManualRequester requester(LockRequest request) {
		return new ManualRequester(this.engine, request, true);
	}

	/** Returns a request that no thread waits for. */
	ManualRequester asyncRequester() {
		return new ManualRequester(this.engine, REQUEST, false);
	}

	void checkNothingRemains() {
		this.environment.runTasks();
		check(this.engine.queueCount() == 0, "a queue remains");
		check(this.engine.context().heldGrants().isEmpty(), "a hold remains");
		check(this.provider.openContenders() == 0, "a contender remains");
		check(!this.provider.isHeld(), "the store still keeps a grant");
	}

	/** Runs two actions at the same time; what either throws is thrown. */
	static void together(Runnable one, Runnable other) {
		AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
		Thread first = thread(one, failure);
		Thread second = thread(other, failure);
		first.start();
		second.start();
		try {
			first.join();
			second.join();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		Throwable thrown = failure.get();
		if (thrown != null) {
			throw new IllegalStateException(thrown);
		}
	}

	private static Thread thread(Runnable action, AtomicReference<@Nullable Throwable> failure) {
		return new Thread(() -> {
			try {
				action.run();
			}
			catch (RuntimeException | Error ex) {
				failure.compareAndSet(null, ex);
			}
		});
	}

	static void check(boolean condition, String violation) {
		if (!condition) {
			throw new IllegalStateException(violation);
		}
	}

}
