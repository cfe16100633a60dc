package io.distributedlock.interceptor;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;

import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.io.TempDir;

import io.distributedlock.LockKey;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of locked methods on virtual threads. Java 24 and later pin a virtual thread only
 * where it waits in native code or in a class initializer.
 */
@EnabledForJreRange(minVersion = 25)
class VirtualThreadTests {

	private static final int THREADS = 10_000;

	private static final int KEYS = 100;

	@Test
	void tenThousandThreadsWaitWithoutPinningTheirCarriers(@TempDir Path folder) throws Exception {
		Work target = new Work();
		try (LockTimer timer = new LockTimer();
				LockTemplate locks = new LockTemplate(new LocalLockProvider(), LockSettings.defaults(), timer,
						List.of(), List.of());
				Recording recording = new Recording()) {
			Work work = new LockedProxies(locks).ofClass(target);
			work.run(0);
			target.run(locks, 0);
			recording.enable("jdk.VirtualThreadPinned").withThreshold(Duration.ofMillis(1)).withStackTrace();
			recording.start();
			List<Future<?>> calls = new ArrayList<>();
			ExecutorService threads = virtualThreads();
			for (int number = 0; number < THREADS; number++) {
				int key = number % KEYS;
				boolean annotated = number % 2 == 0;
				calls.add(threads.submit(() -> {
					if (annotated) {
						work.run(key);
					}
					else {
						target.run(locks, key);
					}
				}));
			}
			for (Future<?> call : calls) {
				call.get(1, TimeUnit.MINUTES);
			}
			threads.shutdown();
			recording.stop();
			recording.dump(folder.resolve("pinned.jfr"));
		}
		assertThat(target.overlaps).hasValue(0);
		assertThat(target.calls).hasValue(THREADS + 2);
		assertThat(RecordingFile.readAllEvents(folder.resolve("pinned.jfr"))).noneMatch(VirtualThreadTests::isOurs);
	}

	private static ExecutorService virtualThreads() throws ReflectiveOperationException {
		return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
	}

	private static boolean isOurs(RecordedEvent event) {
		RecordedStackTrace stack = event.getStackTrace();
		return stack != null && hasFrameOf("io.distributedlock.", stack)
				&& !hasFrameOf(ClassLoader.class.getName(), stack);
	}

	/** The JVM pins a thread that loads a class, which it does once. */
	private static boolean hasFrameOf(String prefix, RecordedStackTrace stack) {
		return stack.getFrames().stream().anyMatch((frame) -> frame.getMethod().getType().getName().startsWith(prefix));
	}

	static class Work {

		private final AtomicInteger calls = new AtomicInteger();

		private final AtomicInteger overlaps = new AtomicInteger();

		private final AtomicInteger[] running = new AtomicInteger[KEYS];

		Work() {
			for (int key = 0; key < KEYS; key++) {
				this.running[key] = new AtomicInteger();
			}
		}

		/** Runs under the lock of the annotated method, by hand. */
		void run(LockOperations locks, int key) {
			Lock lock = locks.asLock(LockRequest.of(LockKey.of("Work.run", Integer.toString(key))));
			lock.lock();
			try {
				run(key);
			}
			finally {
				lock.unlock();
			}
		}

		@DistributedLock(key = "#p0", waitTime = "1m")
		void run(int key) {
			if (this.running[key].incrementAndGet() > 1) {
				this.overlaps.incrementAndGet();
			}
			Thread.yield();
			this.calls.incrementAndGet();
			this.running[key].decrementAndGet();
		}

	}

}
