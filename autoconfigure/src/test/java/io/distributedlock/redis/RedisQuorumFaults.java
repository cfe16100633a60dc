package io.distributedlock.redis;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;

import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.testkit.FrozenProcesses;
import io.distributedlock.testkit.StoreFaults;
import io.distributedlock.testkit.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Faults of the running servers of a quorum. So many others are down that the running
 * ones are a majority only together: one lost packet is a lost command.
 */
final class RedisQuorumFaults implements StoreFaults {

	private final RedisQuorumFixture fixture;

	private final List<RedisServer> servers;

	private final List<Fault> open = new ArrayList<>();

	RedisQuorumFaults(RedisQuorumFixture fixture, List<RedisServer> servers) {
		this.fixture = fixture;
		this.servers = servers;
	}

	@Override
	public List<InetSocketAddress> servers() {
		return this.servers.stream().map(RedisServer::address).toList();
	}

	@Override
	public LockProvider newProcess(TcpProxy proxy) {
		// A command is one packet only if its script is known.
		for (Script script : List.of(Script.ATTEMPT, Script.RENEW, Script.RELEASE, Script.QUORUM_ORDER)) {
			this.fixture.admins().forEach((admin) -> admin.scriptLoad(script.text()));
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

	@Override
	public Fault lockEntry(LockKey key) {
		return refuseWrites(key);
	}

	@Override
	public Fault refuseWrites(LockKey key) {
		byte[] lock = this.fixture.layout().lock(key);
		byte[] aside = (new String(lock, StandardCharsets.UTF_8) + ":aside").getBytes(StandardCharsets.UTF_8);
		this.fixture.admins().forEach((admin) -> RedisFaults.replace(admin, lock, aside));
		return remember(() -> this.fixture.admins().forEach((admin) -> RedisFaults.restore(admin, lock, aside)));
	}

	@Override
	public void killConnections() {
		this.fixture.admins()
			.forEach((admin) -> assertThat(admin
				.clientKill(new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES)))
				.as("connections killed")
				.isPositive());
	}

	@Override
	public void advanceOrder(LockKey key, Duration by) {
		byte[] lastOrder = this.fixture.layout().keys(key).lastOrder();
		this.fixture.admins()
			.forEach((admin) -> admin.zincrby(lastOrder, by.toNanos() / 1000,
					RedisLayout.bytes(RedisLayout.ORDER_MEMBER)));
	}

	@Override
	public void close() {
		List.copyOf(this.open).forEach(Fault::close);
		this.open.clear();
	}

}
