package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;

import io.distributedlock.FreePorts;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.redis.RedisProcesses;
import io.distributedlock.redis.RedisServer;
import io.distributedlock.redis.TestClients;
import io.distributedlock.redis.script.RedisLayout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Nodes of a quorum of three that restart, and forget all they knew. */
@Tag("matrix")
class RedisQuorumRestartTests {

	private static final Duration MAX_LEASE = Duration.ofSeconds(2);

	private static final Duration DELAY = QuorumNodeCheck.restartDelay(MAX_LEASE);

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final String PREFIX = "restarts";

	private static final RedisQuorumSettings SETTINGS = new RedisQuorumSettings(PREFIX, MAX_LEASE);

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final RedisLayout LAYOUT = new RedisLayout(PREFIX);

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private final QuorumServers servers = new QuorumServers(3, 0);

	/** Creates a process that has connected to all nodes of its own that run. */
	private RedisQuorumLockProvider provider(List<Integer> ports, Duration restartDelay) {
		return provider(ports, SETTINGS, restartDelay);
	}

	private RedisQuorumLockProvider provider(List<Integer> ports, RedisQuorumSettings settings, Duration restartDelay) {
		RedisQuorumLockProvider provider = newProvider(ports, settings, restartDelay);
		await().atMost(PATIENCE).ignoreExceptionsInstanceOf(LockProviderException.class).until(() -> {
			provider.check(PATIENCE);
			return true;
		});
		return provider;
	}

	/** The ports of the nodes, at the last of which this process finds nobody. */
	private List<Integer> portsWithoutLast() {
		return List.of(this.servers.server(0).port(), this.servers.server(1).port(), FreePorts.next());
	}

	private LockTemplate locks(RedisQuorumLockProvider provider) {
		return this.processes.locks(provider, LockSettings.defaults().withCallTimeout(Duration.ofSeconds(10)));
	}

	private static LockRequest request(Duration wait) {
		return LockRequest.of(KEY).withLease(MAX_LEASE).withoutRenewal().withWaitTime(wait);
	}

	/**
	 * Locks on the first two nodes by a process that does not reach the third, and
	 * restarts the second, which has forgotten that.
	 */
	private LockLease lockOnRestartedNode(LockTemplate withoutLast, Duration lease) {
		LockLease held = RedisProcesses.acquireAgain(withoutLast, request(PATIENCE).withLease(lease));
		this.servers.server(1).kill();
		this.servers.server(1).start();
		return held;
	}

	@Test
	void restartedNodeLetsNobodyInWithinTheLease() {
		this.processes.closing(this.servers);
		provider(this.servers.ports(), DELAY);
		LockTemplate withoutLast = locks(provider(portsWithoutLast(), DELAY));
		boolean inTime;
		do {
			LockLease first = lockOnRestartedNode(withoutLast, MAX_LEASE);
			// Else the machine was too slow, and nothing was to be kept out.
			inTime = first.isHeld();
			LockTemplate another = locks(newProvider(this.servers.ports(), DELAY));
			try (LockLease second = RedisProcesses.acquireAgain(another, request(PATIENCE))) {
				assertThat(first.isHeld()).as("the first lease, when another one is granted").isFalse();
				assertThat(second.fencingToken().value()).isGreaterThan(first.fencingToken().value());
			}
		}
		while (!inTime);
	}

	/** What the delay is for: the same steps without it. */
	@Test
	void restartedNodeWithoutTheDelayLetsAnotherProcessIn() {
		this.processes.closing(this.servers);
		Duration lease = Duration.ofMinutes(5);
		RedisQuorumSettings settings = new RedisQuorumSettings(PREFIX, lease);
		provider(this.servers.ports(), settings, Duration.ZERO);
		LockTemplate withoutLast = locks(provider(portsWithoutLast(), settings, Duration.ZERO));
		LockLease first = lockOnRestartedNode(withoutLast, lease);
		LockTemplate another = locks(newProvider(this.servers.ports(), settings, Duration.ZERO));
		LockLease second = RedisProcesses.acquireAgain(another, request(PATIENCE).withLease(lease));
		assertThat(first.isHeld()).as("the first lease").isTrue();
		assertThat(second.isHeld()).as("the second lease").isTrue();
	}

	private RedisQuorumLockProvider newProvider(List<Integer> ports, Duration restartDelay) {
		return newProvider(ports, SETTINGS, restartDelay);
	}

	private RedisQuorumLockProvider newProvider(List<Integer> ports, RedisQuorumSettings settings,
			Duration restartDelay) {
		return this.processes.closing(new RedisQuorumLockProvider(QuorumServers.nodes(ports), settings, restartDelay,
				TestClients.resources()));
	}

	@Test
	void restartedNodeKnowsTheLastOrderBeforeItTakesPartAgain() {
		this.processes.closing(this.servers);
		RedisQuorumLockProvider all = provider(this.servers.ports(), Duration.ZERO);
		byte[] lastOrder = LAYOUT.keys(KEY).lastOrder();
		LockTemplate withoutLast = locks(provider(portsWithoutLast(), Duration.ZERO));
		withoutLast.acquire(request(Duration.ZERO)).close();
		for (int number = 0; number < 2; number++) {
			try (Jedis admin = this.servers.server(number).admin()) {
				admin.zincrby(lastOrder, Duration.ofHours(1).toNanos() / 1000,
						RedisLayout.bytes(RedisLayout.ORDER_MEMBER));
			}
		}
		LockLease first = withoutLast.acquire(request(Duration.ZERO));
		long order = first.fencingToken().order();
		first.close();
		this.servers.server(1).kill();
		this.servers.server(1).start();
		awaitUp(all, 1);
		this.servers.server(0).kill();
		LockTemplate locks = locks(all);
		try (LockLease second = RedisProcesses.acquireAgain(locks, request(PATIENCE))) {
			assertThat(second.fencingToken().order()).as("the order, of which only the restarted node can know")
				.isGreaterThan(order);
		}
	}

	private void awaitUp(RedisQuorumLockProvider provider, int server) {
		await().atMost(PATIENCE).ignoreExceptionsInstanceOf(LockProviderException.class).until(() -> {
			provider.check(PATIENCE);
			try (Jedis admin = this.servers.server(server).admin()) {
				return admin.exists(LAYOUT.quorumMember());
			}
		});
	}

	@Test
	void nodeTakesNoPartWhileNoMajorityOfOthersCanTeachIt() {
		this.processes.closing(this.servers);
		RedisQuorumLockProvider provider = provider(this.servers.ports(), Duration.ZERO);
		this.servers.server(0).kill();
		this.servers.server(1).kill();
		this.servers.server(1).start();
		LockTemplate locks = locks(provider);
		assertThatExceptionOfType(LockProviderException.class)
			.isThrownBy(() -> locks.acquire(request(Duration.ofSeconds(1))))
			.withMessageContaining("has no majority: 1 of 3 nodes answered, 2 are needed")
			.withMessageContaining("waits for 2 other nodes of the quorum, to learn the last orders from them");
		assertThat(provider.nodeStates().get("127.0.0.1:" + this.servers.server(1).port()))
			.contains("waits for 2 other nodes");
		this.servers.server(0).start();
		RedisProcesses.acquireAgain(locks, request(PATIENCE)).close();
	}

	@Test
	void quorumThatHasRestartedAsAWholeGrantsAgainAfterTheDelay() {
		this.processes.closing(this.servers);
		RedisQuorumLockProvider provider = provider(this.servers.ports(), DELAY);
		LockTemplate locks = locks(provider);
		LockLease before = locks.acquire(request(Duration.ZERO));
		this.servers.servers().forEach(RedisServer::kill);
		this.servers.servers().forEach(RedisServer::start);
		assertThatExceptionOfType(LockProviderException.class)
			.isThrownBy(
					() -> locks.tryAcquire(request(Duration.ofMillis(200)).withKeys(List.of(LockKey.of("another")))))
			.withMessageContaining("takes part in nothing for ");
		// On a slow machine one has not been asked again yet.
		assertThat(provider.nodeStates().values()).doesNotContain("up")
			.anyMatch((state) -> state.startsWith("restarted; takes part again"));
		try (LockLease after = RedisProcesses.acquireAgain(locks, request(PATIENCE))) {
			assertThat(before.isHeld()).isFalse();
			assertThat(after.fencingToken().value()).isGreaterThan(before.fencingToken().value());
		}
		assertThat(Stream.of(before)).noneMatch(LockLease::isHeld);
	}

}
