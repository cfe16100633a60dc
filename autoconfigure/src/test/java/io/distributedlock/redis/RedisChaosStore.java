package io.distributedlock.redis;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;

import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

import io.distributedlock.chaos.ChaosStore;

/** A Redis server that writes each command to its file before it answers. */
public final class RedisChaosStore implements ChaosStore {

	private final RedisServer server = new RedisServer("--appendonly", "yes", "--appendfsync", "no");

	@Override
	public InetSocketAddress address() {
		return this.server.address();
	}

	@Override
	public List<String> properties(int port) {
		return List.of("distributed-lock.provider=redis", "spring.data.redis.host=127.0.0.1",
				"spring.data.redis.port=" + port);
	}

	@Override
	public ProcessHandle server() {
		return this.server.handle();
	}

	@Override
	public Optional<Runnable> restart() {
		return Optional.of(() -> {
			this.server.kill();
			this.server.start();
		});
	}

	@Override
	public long killConnections() {
		try (Jedis admin = this.server.admin()) {
			return admin.clientKill(new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES))
					+ admin.clientKill(new ClientKillParams().type(ClientType.PUBSUB));
		}
	}

	@Override
	public long heldEntries() {
		try (Jedis admin = this.server.admin()) {
			return admin.keys("{*")
				.stream()
				.filter((name) -> !name.endsWith("}:last-order") && !name.endsWith("}:format"))
				.count();
		}
	}

	@Override
	public void close() {
		this.server.close();
	}

}
