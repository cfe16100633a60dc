package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.redis.RedisProcesses;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.testkit.FrozenProcesses;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Releases that a node of a quorum receives late, and what they must leave alone. */
@Tag("matrix")
class RedisQuorumReleaseTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Duration CALL_TIMEOUT = Duration.ofSeconds(30);

	private static final String PREFIX = "quorum-releases";

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final RedisLayout LAYOUT = new RedisLayout(PREFIX);

	/**
	 * The first node: on a loaded machine the replies of the two before it could end each
	 * attempt before it is sent to the third one.
	 */
	private static final int FROZEN = 0;

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private final QuorumServers servers = new QuorumServers(3, 0);

	@BeforeEach
	void closeServers() {
		this.processes.closing(this.servers);
	}

	/** Creates a process that has connected to all nodes. */
	private RedisQuorumLockProvider provider() {
		RedisQuorumLockProvider provider = this.processes.closing(this.servers.provider(PREFIX));
		await().atMost(PATIENCE).ignoreExceptionsInstanceOf(LockProviderException.class).until(() -> {
			provider.check(PATIENCE);
			return isUp(provider);
		});
		return provider;
	}

	private static boolean isUp(RedisQuorumLockProvider provider) {
		return provider.nodeStates().values().stream().allMatch("up"::equals);
	}

	/**
	 * Creates an engine that gives up no node which is slow on a loaded machine: a lock
	 * that a majority has granted comes to no node after that.
	 */
	private LockTemplate locks(RedisQuorumLockProvider provider) {
		return this.processes.locks(provider, LockSettings.defaults().withCallTimeout(CALL_TIMEOUT));
	}

	private boolean isOnAllNodes(String owner) {
		return this.servers.servers().stream().allMatch((server) -> {
			try (Jedis admin = server.admin()) {
				byte[] value = admin.get(LAYOUT.lock(KEY));
				return value != null && new String(value).startsWith(owner);
			}
		});
	}

	@Test
	void pendingReleaseOfABusyAttemptLeavesTheNextGrantAlone() throws Exception {
		LockTemplate holder = locks(provider());
		RedisQuorumLockProvider provider = provider();
		LockTemplate locks = locks(provider);
		LockLease held = holder.acquire(LockRequest.of(KEY));
		await().atMost(PATIENCE).until(() -> isOnAllNodes(""));
		CompletableFuture<LockLease> waiter = locks.acquireAsync(LockRequest.of(KEY).withWaitTime(PATIENCE));
		QuorumNode node = provider.quorum().nodes().get(FROZEN);
		PendingNodeReleases pending = provider.quorum().pending(node);
		long connections = node.connections();
		try (FrozenProcesses frozen = FrozenProcesses.freeze(this.servers.server(FROZEN).handle())) {
			// No answer over another connection confirms the release of this attempt.
			await().atMost(PATIENCE)
				.until(() -> waiter.isDone() || (pending.size() > 0 && node.connections() > connections));
			assertThat(waiter).isNotDone();
		}
		await().atMost(PATIENCE).until(() -> node.state().equals("up"));
		held.close();
		LockLease lease = waiter.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
		String owner = provider.find(KEY, PATIENCE).orElseThrow().owner().text();
		await().atMost(PATIENCE).until(() -> isOnAllNodes(owner));
		assertThat(pending.size()).as("releases that are still repeated").isPositive();
		await().during(PendingNodeReleases.PAUSE.multipliedBy(3)).atMost(PATIENCE).until(() -> isOnAllNodes(owner));
		lease.ensureHeld();
	}

	@Test
	void locksOfAMajorityStayOnNoNodeThatConnectsMeanwhile() throws Exception {
		provider();
		RedisQuorumLockProvider provider;
		LockTemplate locks;
		try (FrozenProcesses frozen = FrozenProcesses.freeze(this.servers.server(FROZEN).handle())) {
			provider = this.processes.closing(this.servers.provider(PREFIX));
			locks = locks(provider);
			for (int number = 0; number < 20; number++) {
				locks
					.acquire(LockRequest.of(LockKey.of("brief", Integer.toString(number)))
						.withLease(Duration.ofHours(1)))
					.close();
			}
			QuorumNode node = provider.quorum().nodes().get(FROZEN);
			assertThat(provider.quorum().pending(node).size()).as("releases of what was never sent").isZero();
			assertThat(provider.quorum().partialGrants()).isZero();
		}
		await().atMost(PATIENCE).until(() -> isUp(provider));
		// Behind all that waited for the connection.
		locks.acquire(LockRequest.of(KEY));
		await().atMost(PATIENCE).until(() -> isOnAllNodes(""));
		try (Jedis admin = this.servers.server(FROZEN).admin()) {
			assertThat(admin.keys("{" + PREFIX + ":b??}:lock:*")).containsExactly(new String(LAYOUT.lock(KEY)));
		}
	}

}
