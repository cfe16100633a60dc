package io.distributedlock.benchmarks.inprocess;

import java.util.concurrent.locks.ReentrantLock;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.distributedlock.LockContext;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;

/**
 * What a lock costs without a store: the in-memory provider keeps it.
 */
@State(Scope.Benchmark)
@SuppressWarnings("NullAway.Init")
public class LockBenchmark {

	private ConfigurableApplicationContext context;

	private LockOperations locks;

	private Orders orders;

	private final ReentrantLock fair = new ReentrantLock(true);

	private final LockKey key = LockKey.of("orders", "7");

	/** Small, so that the result is boxed without an object. */
	private long id = 7;

	/** Starts the application. */
	@Setup
	public void start() {
		this.context = new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.properties("logging.level.root=error", "distributed-lock.provider=local")
			.run();
		this.locks = this.context.getBean(LockOperations.class);
		this.orders = this.context.getBean(Orders.class);
	}

	/** Stops the application. */
	@TearDown
	public void stop() {
		this.context.close();
	}

	/** Acquires and releases. */
	@Benchmark
	public boolean acquireRelease() {
		try (LockLease lease = this.locks.acquire(LockRequest.of(this.key))) {
			return lease.isHeld();
		}
	}

	/** Runs a body under the lock. */
	@Benchmark
	public long execute() {
		return this.locks.execute(LockRequest.of(this.key), (lease) -> this.id);
	}

	/** Does by hand what the annotation does, the key included. */
	@Benchmark
	public long executeByHand() {
		long order = this.id;
		return this.locks.execute(LockRequest.of(LockKey.of("orders", Long.toString(order))), (lease) -> order);
	}

	/** Calls an annotated method. */
	@Benchmark
	public long annotated() {
		return this.orders.pay(this.id);
	}

	/** Acquires a lock that this thread holds, with a request that is ready. */
	@Benchmark
	public boolean reentry(Held held) {
		return this.locks.execute(held.request, (lease) -> Boolean.TRUE);
	}

	/** For scale: the fair lock of the JDK. */
	@Benchmark
	public long fairReentrantLock() {
		this.fair.lock();
		try {
			return this.id;
		}
		finally {
			this.fair.unlock();
		}
	}

	/** A lock that the thread holds while it is measured. */
	@State(Scope.Thread)
	@SuppressWarnings("NullAway.Init")
	public static class Held {

		private LockLease lease;

		private LockContext.Scope scope;

		private LockRequest request;

		/** Acquires the lock and enters its scope. */
		@Setup(Level.Iteration)
		public void acquire(LockBenchmark benchmark) {
			this.request = LockRequest.of(benchmark.key);
			this.lease = benchmark.locks.acquire(this.request);
			this.scope = LockContext.open(this.lease);
		}

		/** Leaves the scope and releases the lock. */
		@TearDown(Level.Iteration)
		public void release() {
			this.scope.close();
			this.lease.close();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	static class Application {

		@Bean
		Orders orders() {
			return new Orders();
		}

	}

	/** A service with a locked method. */
	static class Orders {

		@DistributedLock(name = "orders", key = "#id")
		public long pay(long id) {
			return id;
		}

	}

}
