package io.distributedlock.benchmarks.scenario;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;

/**
 * Threads that begin at the same moment.
 */
final class SimultaneousThreads {

	private SimultaneousThreads() {
	}

	/**
	 * Runs a task on each thread, and waits for all.
	 * @param threads the number of threads
	 * @param tasks creates the task of a thread from its number
	 * @return the result of each
	 * @throws Exception what the first task that failed has thrown
	 */
	static <T> List<T> run(int threads, IntFunction<Callable<T>> tasks) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		try {
			CountDownLatch ready = new CountDownLatch(threads);
			List<Future<T>> futures = new ArrayList<>();
			for (int number = 0; number < threads; number++) {
				Callable<T> task = tasks.apply(number);
				futures.add(executor.submit(() -> {
					ready.countDown();
					ready.await();
					return task.call();
				}));
			}
			List<T> results = new ArrayList<>();
			for (Future<T> future : futures) {
				results.add(future.get());
			}
			return results;
		}
		catch (ExecutionException ex) {
			throw (ex.getCause() instanceof Exception cause) ? cause : ex;
		}
		finally {
			executor.shutdownNow();
		}
	}

}
