package io.distributedlock.process;

import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.redis.quorum.QuorumServers;
import io.distributedlock.redis.quorum.RedisQuorumLockProvider;
import io.distributedlock.redis.quorum.RedisQuorumSettings;

/**
 * One process of several whose threads contend for one lock of a quorum, and write to a
 * counter under it, until it is sent a line. Its arguments are the longest lease in
 * milliseconds, the number of threads, the port of the counter, and those of the nodes.
 */
final class QuorumHolderMain {

	static final String PREFIX = "history";

	static final LockKey KEY = LockKey.of("counter");

	private QuorumHolderMain() {
	}

	public static void main(String[] args) throws Exception {
		PrintStream answers = System.out;
		Duration maxLease = Duration.ofMillis(Long.parseLong(args[0]));
		int counter = Integer.parseInt(args[2]);
		List<Integer> ports = Stream.of(args).skip(3).map(Integer::valueOf).toList();
		LockTimer timer = new LockTimer();
		RedisQuorumLockProvider provider = new RedisQuorumLockProvider(QuorumServers.nodes(ports),
				new RedisQuorumSettings(PREFIX, maxLease));
		LockTemplate locks = new LockTemplate(provider, LockSettings.defaults(), timer, List.of(), List.of());
		LockRequest request = LockRequest.of(KEY).withLease(maxLease).withWaitTime(Duration.ofSeconds(2));
		Queue<String> history = new ConcurrentLinkedQueue<>();
		List<Thread> threads = new ArrayList<>();
		AtomicBoolean over = new AtomicBoolean();
		for (int number = 0; number < Integer.parseInt(args[1]); number++) {
			Thread thread = new Thread(() -> {
				try (FencedCounter own = new FencedCounter(counter, PREFIX)) {
					while (!over.get()) {
						String hold = hold(locks, request, own);
						if (hold != null) {
							history.add(hold);
						}
					}
				}
			});
			thread.start();
			threads.add(thread);
		}
		System.in.read();
		over.set(true);
		for (Thread thread : threads) {
			thread.join();
		}
		answers.println(LockProcess.ANSWER + String.join(",", history));
		System.exit(0);
	}

	/** Holds the lock once: request, begin, end, whether it was held, and the token. */
	private static @Nullable String hold(LockTemplate locks, LockRequest request, FencedCounter counter) {
		long requested = System.nanoTime();
		try (LockLease lease = locks.tryAcquire(request)) {
			if (lease == null) {
				return null;
			}
			long begin = System.nanoTime();
			String token = lease.fencingToken().toSortableText();
			long value = counter.read(token);
			TimeUnit.MICROSECONDS.sleep(500);
			boolean written = value >= 0 && counter.write(token, value + 1);
			long end = System.nanoTime();
			return requested + ":" + begin + ":" + end + ":" + lease.isHeld() + ":" + lease.fencingToken().value() + ":"
					+ written;
		}
		catch (LockException ex) {
			return null;
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
