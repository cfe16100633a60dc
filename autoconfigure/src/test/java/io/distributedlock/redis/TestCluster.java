package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import redis.clients.jedis.Jedis;
import redis.clients.jedis.util.JedisClusterCRC16;

import org.springframework.data.redis.connection.RedisClusterConfiguration;

import io.distributedlock.LockKey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A cluster of three masters, and of as many replicas as wanted, one for each of the
 * first masters.
 */
final class TestCluster implements AutoCloseable {

	private static final int MASTERS = 3;

	static final int SLOTS = 16384;

	/** For a cluster to form, on a loaded machine. */
	static final Duration START = Duration.ofSeconds(60);

	private final List<RedisServer> nodes;

	TestCluster(int replicas, String... options) {
		List<String> all = new ArrayList<>(List.of("--cluster-enabled", "yes", "--cluster-node-timeout", "2000",
				"--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0"));
		all.addAll(List.of(options));
		this.nodes = IntStream.range(0, MASTERS + replicas)
			.parallel()
			.mapToObj((number) -> new RedisServer(all.toArray(String[]::new)))
			.toList();
		for (int number = 0; number < this.nodes.size(); number++) {
			try (Jedis node = this.nodes.get(number).admin()) {
				if (number < MASTERS) {
					node.clusterAddSlotsRange(first(number), first(number + 1) - 1);
				}
				node.clusterSetConfigEpoch(number + 1);
				node.clusterMeet("127.0.0.1", this.nodes.get(0).port());
			}
		}
		this.nodes.forEach((node) -> awaitView(node, 0));
		for (int number = 0; number < replicas; number++) {
			try (Jedis replica = this.nodes.get(MASTERS + number).admin();
					Jedis master = this.nodes.get(number).admin()) {
				replica.clusterReplicate(master.clusterMyId());
				await().atMost(START).until(() -> replica.info("replication").contains("master_link_status:up"));
			}
		}
		this.nodes.forEach((node) -> awaitView(node, replicas));
	}

	/** Waits until a node knows all nodes and the owner of each slot. */
	private void awaitView(RedisServer node, int replicas) {
		try (Jedis admin = node.admin()) {
			await().pollInterval(Duration.ofMillis(20)).atMost(START).untilAsserted(() -> {
				assertThat(admin.clusterInfo().lines()).contains("cluster_state:ok", "cluster_slots_ok:" + SLOTS,
						"cluster_known_nodes:" + this.nodes.size());
				assertThat(admin.clusterNodes().lines().filter((line) -> line.contains("slave "))).hasSize(replicas);
			});
		}
	}

	private static int first(int master) {
		return SLOTS * master / MASTERS;
	}

	static int slot(byte[] key) {
		return JedisClusterCRC16.getSlot(key);
	}

	/** The master that had a slot when the cluster began. */
	RedisServer owner(int slot) {
		return this.nodes.get(IntStream.range(1, MASTERS).filter((master) -> slot >= first(master)).max().orElse(0));
	}

	/** A key whose lock a master keeps, or one whose lock another one keeps. */
	LockKey key(RedisServer master, boolean same, String... parts) {
		return IntStream.range(0, 1000)
			.mapToObj((number) -> LockKey.of("orders-" + number, parts))
			.filter((key) -> (owner(slot(RedisProcesses.LAYOUT.lock(key))) == master) == same)
			.findFirst()
			.orElseThrow();
	}

	List<RedisServer> masters() {
		return this.nodes.subList(0, MASTERS);
	}

	/** The replica of one of the first masters. */
	RedisServer replica(RedisServer master) {
		return this.nodes.get(MASTERS + this.nodes.indexOf(master));
	}

	RedisClusterConfiguration configuration() {
		RedisClusterConfiguration cluster = new RedisClusterConfiguration();
		masters().forEach((node) -> cluster.clusterNode("127.0.0.1", node.port()));
		return cluster;
	}

	/** The cluster that contract kits share, which forgives its nodes long silences. */
	static TestCluster shared() {
		return Shared.CLUSTER;
	}

	@Override
	public void close() {
		this.nodes.forEach(RedisServer::close);
	}

	private static final class Shared {

		private static final TestCluster CLUSTER = new TestCluster(0, "--cluster-node-timeout", "60000");

	}

}
