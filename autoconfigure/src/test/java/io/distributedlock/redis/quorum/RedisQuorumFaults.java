package io.distributedlock.redis.quorum;

import java.util.List;

import redis.clients.jedis.Jedis;

import io.distributedlock.provider.LockProvider;
import io.distributedlock.redis.AbstractRedisFaults;
import io.distributedlock.redis.RedisServer;
import io.distributedlock.redis.script.Script;
import io.distributedlock.testkit.TcpProxy;

/**
 * Faults of the running servers of a quorum. So many others are down that the running
 * ones are a majority only together: one lost packet is a lost command.
 */
final class RedisQuorumFaults extends AbstractRedisFaults {

	private final RedisQuorumFixture fixture;

	RedisQuorumFaults(RedisQuorumFixture fixture, List<RedisServer> servers) {
		super(servers, fixture.layout());
		this.fixture = fixture;
	}

	@Override
	public List<Jedis> admins() {
		return this.fixture.admins();
	}

	@Override
	public List<Jedis> admins(byte[] key) {
		return admins();
	}

	@Override
	public List<Script> scripts() {
		return List.of(Script.ATTEMPT, Script.RENEW, Script.RELEASE, Script.QUORUM_ORDER);
	}

	@Override
	public LockProvider processBehind(TcpProxy proxy) {
		return this.fixture.newProcess(proxy::port);
	}

}
