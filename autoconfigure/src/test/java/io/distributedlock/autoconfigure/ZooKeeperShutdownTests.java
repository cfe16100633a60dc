package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.autoconfigure.zookeeper.ZooKeeperLockAutoConfiguration;
import io.distributedlock.testkit.TimeBounds;
import io.distributedlock.zookeeper.TestZooKeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of locks in ZooKeeper whose methods still run when the context is closed.
 */
@Tag("full")
class ZooKeeperShutdownTests {

	private static final Duration SESSION = Duration.ofSeconds(8);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(ZooKeeperLockAutoConfiguration.class, DistributedLockAutoConfiguration.class))
		.withPropertyValues("spring.application.name=shop", "distributed-lock.call-timeout=10s",
				"distributed-lock.shutdown.grace-period=100ms", "distributed-lock.zookeeper.root=/shutdown",
				"distributed-lock.zookeeper.session-timeout=" + SESSION.toMillis() + "ms");

	private final ApplicationContextRunner ownClient = this.runner
		.withPropertyValues("distributed-lock.zookeeper.connect-string=" + TestZooKeeper.connectString());

	private final CuratorFramework admin = CuratorFrameworkFactory.newClient(TestZooKeeper.connectString(), 60_000,
			5000, new RetryOneTime(1));

	@BeforeEach
	void open() {
		this.admin.start();
	}

	@AfterEach
	void close() throws Exception {
		this.admin.delete().quietly().deletingChildrenIfNeeded().forPath("/shutdown");
		this.admin.close();
	}

	private ApplicationContextRunner withClient(CuratorFramework client) {
		return this.runner.withBean(CuratorFramework.class, () -> client,
				(definition) -> definition.setDestroyMethodName(""));
	}

	/** Closes a context under a held lock. */
	private static LockLease closeUnder(ApplicationContextRunner runner, Duration lease) {
		AtomicReference<@Nullable LockLease> held = new AtomicReference<>();
		runner.run((context) -> {
			assertThat(context).hasNotFailed();
			held.set(context.getBean(LockOperations.class)
				.acquire(LockRequest.of(LockKey.of("orders")).withLease(lease)));
		});
		assertThat(held.get()).isNotNull();
		return held.get();
	}

	private List<String> held() throws Exception {
		List<String> held = new ArrayList<>();
		for (String bucket : this.admin.getChildren().forPath("/shutdown/locks")) {
			held.addAll(this.admin.getChildren().forPath("/shutdown/locks/" + bucket));
		}
		return held;
	}

	private List<String> processes() throws Exception {
		return this.admin.getChildren().forPath("/shutdown/processes");
	}

	@Test
	void lockOfTheOwnClientOutlivesItsHoldersDeadline() throws Exception {
		LockLease lease = closeUnder(this.ownClient, Duration.ofMinutes(1));
		assertThat(lease.isHeld()).isTrue();
		while (lease.isHeld()) {
			List<String> present = held();
			assertThat(present.isEmpty() && lease.isHeld()).as("The lock is free while its holder relies on it")
				.isFalse();
		}
		await().atMost(PATIENCE).until(() -> held().isEmpty());
		assertThat(processes()).isEmpty();
		lease.close();
	}

	@Test
	void releaseAfterTheOwnClientWasClosedEnds() throws Exception {
		LockLease lease = closeUnder(this.ownClient, Duration.ofMinutes(1));
		long begun = System.nanoTime();
		lease.close();
		assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(TimeBounds.withLoad(1000));
		await().atMost(PATIENCE).until(() -> held().isEmpty());
	}

	@Test
	void ownClientWithoutHeldLocksEndsItsSessionAtOnce() {
		this.ownClient.withPropertyValues("distributed-lock.zookeeper.session-timeout=60s").run((context) -> {
			context.getBean(LockOperations.class).acquire(LockRequest.of(LockKey.of("orders"))).close();
			assertThat(processes()).hasSize(1);
		});
		await().atMost(PATIENCE).until(() -> processes().isEmpty());
	}

	@Test
	void holderReleasesThroughTheClientOfTheApplication() throws Exception {
		try (CuratorFramework client = CuratorFrameworkFactory.newClient(TestZooKeeper.connectString(),
				new RetryOneTime(1))) {
			client.start();
			LockLease lease = closeUnder(withClient(client), Duration.ofMinutes(1));
			assertThat(held()).containsExactly("shop:orders");
			assertThat(lease.isHeld()).isTrue();
			lease.close();
			assertThat(held()).isEmpty();
			await().atMost(PATIENCE).until(() -> processes().isEmpty());
			assertThat(client.getZookeeperClient().isConnected()).isTrue();
		}
	}

	@Test
	void leaseEndsTheLockInTheClientOfTheApplication() throws Exception {
		Duration time = Duration.ofSeconds(3);
		try (CuratorFramework client = CuratorFrameworkFactory.newClient(TestZooKeeper.connectString(),
				new RetryOneTime(1))) {
			client.start();
			long before = System.nanoTime();
			LockLease lease = closeUnder(withClient(client), time);
			while (lease.isHeld()) {
				List<String> present = held();
				assertThat(present.isEmpty() && lease.isHeld()).as("The lock is free while its holder relies on it")
					.isFalse();
			}
			await().atMost(time.plus(TimeBounds.withLoad(2000))).until(() -> held().isEmpty());
			assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThan(time.minusMillis(500));
			await().atMost(PATIENCE).until(() -> processes().isEmpty());
			assertThat(client.getZookeeperClient().isConnected()).isTrue();
		}
	}

	@Test
	void nextContextWithTheSameClientKeepsItsProcessNode() throws Exception {
		try (CuratorFramework client = CuratorFrameworkFactory.newClient(TestZooKeeper.connectString(),
				new RetryOneTime(1))) {
			client.start();
			LockLease lease = closeUnder(withClient(client), Duration.ofMinutes(1));
			withClient(client).run((context) -> {
				LockOperations locks = context.getBean(LockOperations.class);
				assertThat(locks.tryAcquire(LockRequest.of(LockKey.of("orders")).withWaitTime(Duration.ZERO))).isNull();
				lease.close();
				locks.acquire(LockRequest.of(LockKey.of("orders"))).close();
				await().during(Duration.ofSeconds(2)).atMost(PATIENCE).until(() -> processes().size() == 1);
			});
		}
	}

}
