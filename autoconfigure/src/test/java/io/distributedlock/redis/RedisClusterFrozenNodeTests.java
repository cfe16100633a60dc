package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.support.LockTemplate;
import io.distributedlock.testkit.FrozenProcesses;
import io.distributedlock.testkit.TimeBounds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A frozen master delays its own locks only.
 */
class RedisClusterFrozenNodeTests {

	private static final Duration LEASE = TimeBounds.withLoad(Duration.ofSeconds(2));

	private static final Duration NO_WAIT = Duration.ZERO;

	/** For the answers that the test needs to see. */
	private static final Duration PATIENCE = Duration.ofMinutes(1);

	/** How many answers of other nodes have to be seen. */
	private static final int FEW = 4;

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void locksOfOtherNodesAreAcquiredAndKept(String name, Function<RedisConfiguration, RedisConnectionFactory> client)
			throws Exception {
		TestCluster cluster = this.processes.closing(new TestCluster(0, "--cluster-require-full-coverage", "no"));
		RedisServer frozen = cluster.masters().get(1);
		LockKey there = cluster.key(frozen, true);
		LockKey elsewhere = cluster.key(frozen, false);
		LockTemplate locks = this.processes.locks(client.apply(cluster.configuration()));
		LockLease unreachable = locks.acquire(LockRequest.of(there).withLease(Duration.ofSeconds(60)));
		LockLease kept = locks.acquire(LockRequest.of(cluster.key(frozen, false, "kept")).withLease(LEASE));
		locks.acquire(LockRequest.of(elsewhere)).close();
		try (FrozenProcesses freeze = FrozenProcesses.freeze(frozen.handle())) {
			List<CompletableFuture<Void>> asking = List.of();
			long begun = System.nanoTime();
			int meanwhile = 0;
			while (goesOn(Duration.ofNanos(System.nanoTime() - begun), meanwhile)) {
				if (meanwhile < FEW && asking.stream().allMatch(CompletableFuture::isDone)) {
					join(asking);
					asking = ask(locks, cluster, frozen);
				}
				// A release that a slow machine did not confirm in time is still to come.
				locks.acquire(LockRequest.of(elsewhere).withWaitTime(TimeBounds.LOAD)).close();
				meanwhile += asking.stream().noneMatch(CompletableFuture::isDone) ? 1 : 0;
				kept.ensureHeld();
			}
			assertThat(meanwhile).as("answers of other nodes while the frozen one was asked")
				.isGreaterThanOrEqualTo(FEW);
			join(asking);
			assertThat(unreachable.isHeld()).isTrue();
		}
		kept.close();
		unreachable.close();
		await().atMost(TestCluster.START).ignoreExceptions().until(() -> {
			locks.acquire(LockRequest.of(there).withWaitTime(NO_WAIT)).close();
			return true;
		});
	}

	private static boolean goesOn(Duration time, int meanwhile) {
		return time.compareTo(LEASE.multipliedBy(2)) < 0 || (meanwhile < FEW && time.compareTo(PATIENCE) < 0);
	}

	/** Asks a frozen node in threads, each of which asserts that it fails in time. */
	private static List<CompletableFuture<Void>> ask(LockTemplate locks, TestCluster cluster, RedisServer frozen) {
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
		return asking;
	}

	private static void join(List<CompletableFuture<Void>> asking) throws Exception {
		for (CompletableFuture<Void> one : asking) {
			one.get(10, TimeUnit.SECONDS);
		}
	}

}
