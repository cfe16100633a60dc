package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.testkit.FrozenProcesses;
import io.distributedlock.testkit.TimeBounds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A frozen master delays its own locks only.
 */
@Tag("full")
class RedisClusterFrozenNodeTests {

	private static final Duration NO_WAIT = Duration.ZERO;

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	/** Short, but longer than the allowance for a loaded machine. */
	Duration lease() {
		return Duration.ofSeconds(3);
	}

	/** How long the master is frozen: for longer than a lease. */
	Duration duration() {
		return lease().plusSeconds(1);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void locksOfOtherNodesAreAcquiredAndKept(String name, Function<RedisConfiguration, RedisConnectionFactory> client)
			throws Exception {
		TestCluster cluster = this.processes.closing(new TestCluster(0, "--cluster-require-full-coverage", "no"));
		RedisServer frozen = cluster.masters().get(1);
		LockKey there = cluster.key(frozen, true);
		LockKey elsewhere = cluster.key(frozen, false);
		LockTemplate locks = this.processes.locks(client.apply(cluster.configuration()));
		LockLease unreachable = locks.acquire(LockRequest.of(there).withLease(duration().plusSeconds(60)));
		LockLease kept = locks.acquire(LockRequest.of(cluster.key(frozen, false, "kept")).withLease(lease()));
		locks.acquire(LockRequest.of(elsewhere)).close();
		try (FrozenProcesses freeze = FrozenProcesses.freeze(frozen.handle())) {
			List<CompletableFuture<Void>> asking = new ArrayList<>();
			for (int thread = 0; thread < 3; thread++) {
				LockKey key = cluster.key(frozen, true, "asked-" + thread);
				asking.add(CompletableFuture.runAsync(() -> {
					long start = System.nanoTime();
					assertThatExceptionOfType(LockProviderException.class)
						.isThrownBy(() -> locks.acquire(LockRequest.of(key).withWaitTime(NO_WAIT)));
					assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TimeBounds.withLoad(1250));
				}, (task) -> new Thread(task).start()));
			}
			long end = System.nanoTime() + duration().toNanos();
			int meanwhile = 0;
			int failures = 0;
			while (System.nanoTime() < end) {
				try {
					locks.acquire(LockRequest.of(elsewhere).withWaitTime(NO_WAIT)).close();
					meanwhile += asking.stream().noneMatch(CompletableFuture::isDone) ? 1 : 0;
				}
				catch (LockNotAcquiredException ex) {
					// What a failure has left unclear is being released.
				}
				catch (LockProviderException ex) {
					failures++;
				}
				kept.ensureHeld();
			}
			locks.acquire(LockRequest.of(elsewhere).withWaitTime(Duration.ofSeconds(10))).close();
			// A call fails that a stall of the machine makes too long.
			assertThat(failures).as("failures of other nodes").isLessThan(3);
			assertThat(meanwhile).as("answers of other nodes while the frozen one was asked").isGreaterThan(3);
			for (CompletableFuture<Void> one : asking) {
				one.get(10, TimeUnit.SECONDS);
			}
			assertThat(unreachable.isHeld()).isTrue();
		}
		kept.close();
		unreachable.close();
		await().ignoreExceptions().until(() -> {
			locks.acquire(LockRequest.of(there).withWaitTime(NO_WAIT)).close();
			return true;
		});
	}

}
