package io.distributedlock.benchmarks.contender;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.Endpoint;

/**
 * Curator's {@code InterProcessMutex} and {@code InterProcessReadWriteLock}.
 */
final class CuratorContender implements Contender {

	private final CuratorFramework client;

	/** Mutexes that are entered again, which only the same object can. */
	private final Map<String, InterProcessMutex> reentered = new ConcurrentHashMap<>();

	CuratorContender(Endpoint server) {
		this.client = CuratorClients.open(server);
	}

	@Override
	public @Nullable HeldLock acquire(String key, Duration wait) throws Exception {
		return acquire(mutex(key), wait);
	}

	@Override
	public @Nullable HeldLock acquire(String key, boolean writes, Duration wait) throws Exception {
		InterProcessReadWriteLock lock = new InterProcessReadWriteLock(this.client, "/curator/" + key);
		return acquire(writes ? lock.writeLock() : lock.readLock(), wait);
	}

	private static @Nullable HeldLock acquire(InterProcessMutex mutex, Duration wait) throws Exception {
		return mutex.acquire(wait.toMillis(), TimeUnit.MILLISECONDS) ? mutex::release : null;
	}

	@Override
	public void execute(String key, Body body) throws Exception {
		InterProcessMutex mutex = this.reentered.computeIfAbsent(key, this::mutex);
		mutex.acquire();
		try {
			body.run();
		}
		finally {
			mutex.release();
		}
	}

	private InterProcessMutex mutex(String key) {
		return new InterProcessMutex(this.client, "/curator/" + key);
	}

	@Override
	public void close() {
		this.client.close();
	}

}
