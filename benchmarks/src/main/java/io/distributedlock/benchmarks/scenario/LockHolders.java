package io.distributedlock.benchmarks.scenario;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.contender.HeldLock;

/**
 * Threads that hold locks. Each releases those that it has acquired, because many
 * libraries let no other thread do that.
 */
final class LockHolders {

	private static final int THREADS = 16;

	private final List<ExecutorService> threads = new ArrayList<>();

	private final List<List<HeldLock>> held = new ArrayList<>();

	/** Made once, so that no measurement of the heap sees them appear. */
	private final List<String> keys;

	LockHolders(int locks) {
		this.keys = IntStream.range(0, locks).mapToObj((lock) -> "held-" + lock).toList();
		for (int number = 0; number < THREADS; number++) {
			this.held.add(new ArrayList<>());
		}
	}

	void acquire(Acquiring acquiring, int first, int end) throws Exception {
		onEach((number) -> () -> {
			for (int lock = first + number; lock < end; lock += THREADS) {
				HeldLock acquired = acquiring.acquire(this.keys.get(lock), Duration.ofSeconds(30));
				if (acquired == null) {
					throw new IllegalStateException("The free lock '" + this.keys.get(lock) + "' was not acquired");
				}
				this.held.get(number).add(acquired);
			}
			return null;
		});
	}

	void release() throws Exception {
		onEach((number) -> () -> {
			for (HeldLock lock : this.held.get(number)) {
				lock.release();
			}
			this.held.set(number, new ArrayList<>());
			return null;
		});
	}

	private void onEach(IntFunction<Callable<@Nullable Void>> tasks) throws Exception {
		while (this.threads.size() < THREADS) {
			this.threads.add(Executors.newSingleThreadExecutor());
		}
		List<Future<@Nullable Void>> futures = new ArrayList<>();
		for (int number = 0; number < THREADS; number++) {
			futures.add(this.threads.get(number).submit(tasks.apply(number)));
		}
		for (Future<@Nullable Void> future : futures) {
			future.get();
		}
	}

	/** Whatever gives locks. */
	interface Acquiring {

		@Nullable HeldLock acquire(String key, Duration wait) throws Exception;

	}

}
