package io.distributedlock.benchmarks.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;

import io.distributedlock.benchmarks.Endpoint;
import io.distributedlock.benchmarks.Store;

/**
 * One Redis server, or a cluster of three masters, without persistence.
 */
final class RedisServers implements StoreServer {

	private static final int MASTERS = 3;

	private static final int SLOTS = 16384;

	private static final Duration START = Duration.ofSeconds(30);

	private final Store store;

	private final List<RedisProcess> nodes;

	private final RedisClient client = RedisClient.create();

	private final List<StatefulRedisConnection<String, String>> connections;

	private RedisServers(Store store, List<RedisProcess> nodes) {
		this.store = store;
		this.nodes = nodes;
		this.connections = nodes.stream().map((node) -> this.client.connect(node.uri())).toList();
	}

	static RedisServers single(Path directory) {
		return new RedisServers(Store.REDIS, List.of(RedisProcess.start(directory, List.of())));
	}

	static RedisServers cluster(Path directory) {
		List<RedisProcess> nodes = IntStream.range(0, MASTERS)
			.mapToObj((number) -> RedisProcess.start(folder(directory, "node-" + number),
					List.of("--cluster-enabled", "yes")))
			.toList();
		RedisServers servers = new RedisServers(Store.REDIS_CLUSTER, nodes);
		servers.join();
		return servers;
	}

	private static Path folder(Path directory, String name) {
		try {
			return Files.createDirectory(directory.resolve(name));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void join() {
		for (int number = 0; number < MASTERS; number++) {
			RedisCommands<String, String> node = this.connections.get(number).sync();
			node.clusterAddSlots(IntStream.range(SLOTS * number / MASTERS, SLOTS * (number + 1) / MASTERS).toArray());
			node.clusterSetConfigEpoch(number + 1L);
			node.clusterMeet("127.0.0.1", this.nodes.get(0).port());
		}
		for (StatefulRedisConnection<String, String> connection : this.connections) {
			Await.until("a Redis cluster", START, () -> {
				String state = connection.sync().clusterInfo();
				return state.contains("cluster_state:ok") && state.contains("cluster_known_nodes:" + MASTERS);
			});
		}
	}

	@Override
	public Endpoint endpoint() {
		return new Endpoint(this.store,
				this.nodes.stream().map((node) -> "127.0.0.1:" + node.port()).collect(Collectors.joining(",")));
	}

	@Override
	public Counters counters() {
		long commands = 0;
		long writes = 0;
		for (StatefulRedisConnection<String, String> connection : this.connections) {
			commands += connection.sync()
				.info("commandstats")
				.lines()
				// The runner's own question is no command of a contender.
				.filter((line) -> line.startsWith("cmdstat_") && !line.startsWith("cmdstat_info"))
				.mapToLong((line) -> Long.parseLong(line.replaceFirst("^[^:]*:calls=(\\d+),.*$", "$1")))
				.sum();
			// Nothing is ever saved, so this counts from the start.
			writes += Long.parseLong(connection.sync()
				.info("persistence")
				.replaceFirst("(?s)^.*rdb_changes_since_last_save:(\\d+).*$", "$1"));
		}
		return new Counters(OptionalLong.of(commands), OptionalLong.of(writes));
	}

	@Override
	public long size() {
		return this.connections.stream().mapToLong((connection) -> connection.sync().dbsize()).sum();
	}

	@Override
	public void close() {
		this.nodes.forEach(RedisProcess::close);
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
	}

}
