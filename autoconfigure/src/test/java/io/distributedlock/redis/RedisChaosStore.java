package io.distributedlock.redis;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

import io.distributedlock.chaos.ChaosStore;

/** Redis servers that write each command to their files before they answer. */
public final class RedisChaosStore implements ChaosStore {

	private static final String[] OPTIONS = { "--appendonly", "yes", "--appendfsync", "no" };

	private final List<RedisServer> servers;

	/** The property of an address, with a place for a number. */
	private final String address;

	/** For quorums, which have no wait queue. */
	private final boolean independent;

	private RedisChaosStore(List<RedisServer> servers, String address, boolean independent) {
		this.servers = servers;
		this.address = address;
		this.independent = independent;
	}

	public static ChaosStore standalone() {
		return new RedisChaosStore(List.of(new RedisServer(OPTIONS)), "spring.data.redis.url=redis://127.0.0.1:",
				false);
	}

	public static ChaosStore cluster() {
		List<String> options = new ArrayList<>(List.of(OPTIONS));
		options.addAll(List.of("--cluster-node-timeout", "60000"));
		return new RedisChaosStore(new TestCluster(0, options.toArray(String[]::new)).masters(),
				"spring.data.redis.cluster.nodes[%d]=127.0.0.1:", false);
	}

	public static ChaosStore quorum() {
		return new RedisChaosStore(Stream.generate(() -> new RedisServer(OPTIONS)).limit(3).toList(),
				"distributed-lock.redis.quorum.nodes[%d].url=redis://127.0.0.1:", true);
	}

	@Override
	public List<InetSocketAddress> addresses() {
		return this.servers.stream().map(RedisServer::address).toList();
	}

	@Override
	public List<String> properties(IntUnaryOperator ports) {
		List<String> properties = new ArrayList<>(List.of("distributed-lock.provider=redis"));
		for (int i = 0; i < this.servers.size(); i++) {
			properties.add(this.address.formatted(i) + ports.applyAsInt(this.servers.get(i).port()));
		}
		if (this.independent) {
			properties.add("distributed-lock.redis.quorum.max-lease=3s");
		}
		return properties;
	}

	@Override
	public List<ProcessHandle> servers() {
		return this.servers.stream().map(RedisServer::handle).toList();
	}

	@Override
	public void restart(int server) {
		this.servers.get(server).kill();
		this.servers.get(server).start();
	}

	@Override
	public boolean isQueued() {
		return !this.independent;
	}

	@Override
	public long killConnections() {
		return sum((admin) -> Stream.of(ClientType.NORMAL, ClientType.PUBSUB)
			.mapToLong(
					(type) -> admin.clientKill(new ClientKillParams().type(type).skipMe(ClientKillParams.SkipMe.YES)))
			.sum());
	}

	@Override
	public long heldEntries() {
		return sum((admin) -> admin.keys("{*}:lock:*").size());
	}

	private long sum(ToLongFunction<Jedis> number) {
		return this.servers.stream().mapToLong((server) -> {
			try (Jedis admin = server.admin()) {
				return number.applyAsLong(admin);
			}
		}).sum();
	}

	@Override
	public void close() {
		this.servers.forEach(RedisServer::close);
	}

}
