package io.distributedlock.redis;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;

import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.Script;
import io.distributedlock.testkit.FrozenProcesses;
import io.distributedlock.testkit.StoreFaults;
import io.distributedlock.testkit.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;

/** Faults of the running servers of a fixture. */
public abstract class AbstractRedisFaults implements StoreFaults {

	private static final String REPLACE = "redis.call('RENAME', KEYS[1], KEYS[2]) "
			+ "return redis.call('RPUSH', KEYS[1], 'not a lock')";

	private static final String RESTORE = "redis.call('DEL', KEYS[1]) "
			+ "if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('RENAME', KEYS[2], KEYS[1]) end";

	private final List<RedisServer> servers;

	private final RedisLayout layout;

	private final List<Fault> open = new ArrayList<>();

	public AbstractRedisFaults(List<RedisServer> servers, RedisLayout layout) {
		this.servers = servers;
		this.layout = layout;
	}

	/** A connection to each server. */
	public abstract List<Jedis> admins();

	/** Those to the servers that keep a key. */
	public abstract List<Jedis> admins(byte[] key);

	/** The scripts of the commands that faults are about. */
	public abstract List<Script> scripts();

	/** A process that reaches the servers through a proxy. */
	public abstract LockProvider processBehind(TcpProxy proxy);

	@Override
	public List<InetSocketAddress> servers() {
		return this.servers.stream().map(RedisServer::address).toList();
	}

	@Override
	public final LockProvider newProcess(TcpProxy proxy) {
		// A command is one packet only if its script is known.
		for (Script script : scripts()) {
			admins().forEach((admin) -> admin.scriptLoad(script.text()));
		}
		return processBehind(proxy);
	}

	@Override
	public final Predicate<byte[]> packet(Command command, LockKey key) {
		String digests = switch (command) {
			case ACQUIRE -> Script.ATTEMPT.digest() + '|' + Script.ATTEMPT_SHARE.digest();
			case RENEWAL -> Script.RENEW.digest();
			case RELEASE -> Script.RELEASE.digest() + '|' + Script.RELEASE_SHARE.digest();
		};
		String name = new String(this.layout.lock(key), StandardCharsets.UTF_8);
		// One packet may have several commands, each of which begins with an asterisk.
		Predicate<String> found = Pattern.compile("(" + digests + ")[^*]*" + Pattern.quote(name + "\r\n"))
			.asPredicate();
		return (bytes) -> found.test(new String(bytes, StandardCharsets.UTF_8));
	}

	@Override
	public final Fault freeze() {
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
	public final Fault lockEntry(LockKey key) {
		return refuseWrites(key);
	}

	/**
	 * Replaces the lock by a key of another type. It comes back, unless its lease has
	 * ended meanwhile.
	 */
	@Override
	public final Fault refuseWrites(LockKey key) {
		byte[] lock = this.layout.lock(key);
		byte[] aside = (new String(lock, StandardCharsets.UTF_8) + ":aside").getBytes(StandardCharsets.UTF_8);
		List<Jedis> owners = admins(lock);
		owners.forEach((owner) -> owner.eval(RedisLayout.bytes(REPLACE), 2, lock, aside));
		return remember(() -> owners.forEach((owner) -> owner.eval(RedisLayout.bytes(RESTORE), 2, lock, aside)));
	}

	@Override
	public void killConnections() {
		assertThat(kill(ClientType.NORMAL) + kill(ClientType.PUBSUB)).as("connections killed").isPositive();
	}

	private long kill(ClientType type) {
		return admins().stream()
			.mapToLong(
					(admin) -> admin.clientKill(new ClientKillParams().type(type).skipMe(ClientKillParams.SkipMe.YES)))
			.sum();
	}

	@Override
	public final void advanceOrder(LockKey key, Duration by) {
		byte[] lastOrder = this.layout.keys(key).lastOrder();
		admins(lastOrder).forEach(
				(owner) -> owner.zincrby(lastOrder, by.toNanos() / 1000, RedisLayout.bytes(RedisLayout.ORDER_MEMBER)));
	}

	@Override
	public final void close() {
		List.copyOf(this.open).forEach(Fault::close);
		this.open.clear();
	}

}
