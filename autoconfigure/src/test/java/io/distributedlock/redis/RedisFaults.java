package io.distributedlock.redis;

import java.net.InetSocketAddress;
import java.util.List;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;

import io.distributedlock.provider.LockProvider;
import io.distributedlock.redis.script.Script;
import io.distributedlock.testkit.TcpProxy;

/**
 * Faults of all the servers of a fixture that have locks.
 */
final class RedisFaults extends AbstractRedisFaults {

	private final RedisFixture fixture;

	/** What clients connect to, if it is not the servers. */
	private final @Nullable TwemproxyServer proxy;

	RedisFaults(RedisFixture fixture, List<RedisServer> servers, @Nullable TwemproxyServer proxy) {
		super(servers, fixture.layout());
		this.fixture = fixture;
		this.proxy = proxy;
	}

	@Override
	public List<InetSocketAddress> servers() {
		return (this.proxy != null) ? List.of(this.proxy.address()) : super.servers();
	}

	@Override
	public List<Jedis> admins() {
		return this.fixture.masters();
	}

	@Override
	public List<Jedis> admins(byte[] key) {
		return List.of(this.fixture.admin(key));
	}

	@Override
	public List<Script> scripts() {
		return List.of(Script.ATTEMPT, Script.ATTEMPT_SHARE, Script.RENEW, Script.RELEASE, Script.RELEASE_SHARE);
	}

	@Override
	public LockProvider processBehind(TcpProxy proxy) {
		return this.fixture.newProcess(proxy::port);
	}

	@Override
	public void killConnections() {
		if (this.proxy != null) {
			this.proxy.restart();
		}
		else {
			super.killConnections();
		}
	}

}
