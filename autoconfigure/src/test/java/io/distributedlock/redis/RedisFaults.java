package io.distributedlock.redis;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.testkit.FrozenProcesses;
import io.distributedlock.testkit.StoreFaults;
import io.distributedlock.testkit.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Faults of all the servers of a fixture that have locks.
 */
final class RedisFaults implements StoreFaults {

	private static final String REPLACE = "redis.call('RENAME', KEYS[1], KEYS[2]) "
			+ "return redis.call('RPUSH', KEYS[1], 'not a lock')";

	private static final String RESTORE = "redis.call('DEL', KEYS[1]) "
			+ "if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('RENAME', KEYS[2], KEYS[1]) end";

	private final RedisFixture fixture;

	private final List<RedisServer> servers;

	/** What clients connect to, if it is not the servers. */
	private final @Nullable TwemproxyServer proxy;

	private final List<Fault> open = new ArrayList<>();

	RedisFaults(RedisFixture fixture, List<RedisServer> servers, @Nullable TwemproxyServer proxy) {
		this.fixture = fixture;
		this.servers = servers;
		this.proxy = proxy;
	}

	@Override
	public List<InetSocketAddress> servers() {
		return (this.proxy != null) ? List.of(this.proxy.address())
				: this.servers.stream().map(RedisServer::address).toList();
	}

	@Override
	public LockProvider newProcess(TcpProxy proxy) {
		// A command is one packet only if its script is known.
		for (Script script : List.of(Script.ATTEMPT, Script.RENEW, Script.RELEASE)) {
			this.fixture.masters().forEach((master) -> master.scriptLoad(script.text()));
		}
		return this.fixture.newProcess(proxy::port);
	}

	@Override
	public Predicate<byte[]> packet(Command command, LockKey key) {
		String digest = switch (command) {
			case ACQUIRE -> Script.ATTEMPT.digest();
			case RENEWAL -> Script.RENEW.digest();
			case RELEASE -> Script.RELEASE.digest();
		};
		String name = new String(this.fixture.layout().lock(key), StandardCharsets.UTF_8);
		// One packet may have several commands, each of which begins with an asterisk.
		Predicate<String> found = Pattern.compile(digest + "[^*]*" + Pattern.quote(name + "\r\n")).asPredicate();
		return (bytes) -> found.test(new String(bytes, StandardCharsets.UTF_8));
	}

	@Override
	public Fault freeze() {
		return remember(
				FrozenProcesses.freeze(this.servers.stream().map(RedisServer::handle).toArray(ProcessHandle[]::new)));
	}

	private Fault remember(Fault fault) {
		this.open.add(fault);
		return () -> {
			if (this.open.remove(fault)) {
				fault.close();
			}
		};
	}

	/** Redis has no row locks: replaces the lock by another key for a while. */
	@Override
	public Fault lockEntry(LockKey key) {
		return refuseWrites(key);
	}

	@Override
	public Fault refuseWrites(LockKey key) {
		byte[] lock = this.fixture.layout().lock(key);
		Jedis master = this.fixture.admin(lock);
		byte[] aside = (new String(lock, StandardCharsets.UTF_8) + ":aside").getBytes(StandardCharsets.UTF_8);
		replace(master, lock, aside);
		return remember(() -> restore(master, lock, aside));
	}

	/** Replaces a lock by a key of another type. */
	static void replace(Jedis server, byte[] lock, byte[] aside) {
		server.eval(RedisLayout.bytes(REPLACE), 2, lock, aside);
	}

	/** Restores the lock, if its lease has not ended meanwhile. */
	static void restore(Jedis server, byte[] lock, byte[] aside) {
		server.eval(RedisLayout.bytes(RESTORE), 2, lock, aside);
	}

	@Override
	public void killConnections() {
		if (this.proxy != null) {
			this.proxy.restart();
			return;
		}
		assertThat(kill(ClientType.NORMAL) + kill(ClientType.PUBSUB)).as("connections killed").isPositive();
	}

	private long kill(ClientType type) {
		return this.fixture.masters()
			.stream()
			.mapToLong((master) -> master
				.clientKill(new ClientKillParams().type(type).skipMe(ClientKillParams.SkipMe.YES)))
			.sum();
	}

	@Override
	public void advanceOrder(LockKey key, Duration by) {
		byte[] lastOrder = this.fixture.layout().keys(key).lastOrder();
		this.fixture.admin(lastOrder)
			.zincrby(lastOrder, by.toNanos() / 1000, RedisLayout.bytes(RedisLayout.ORDER_MEMBER));
	}

	@Override
	public void close() {
		List.copyOf(this.open).forEach(Fault::close);
		this.open.clear();
	}

}
