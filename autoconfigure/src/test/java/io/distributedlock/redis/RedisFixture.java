package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;

import redis.clients.jedis.Jedis;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.LockProvider;
import io.distributedlock.support.LockProviderFixture;
import io.distributedlock.support.StoreFaults;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One server, emptied for each test; each process has connections of its own.
 */
final class RedisFixture implements LockProviderFixture {

	static final String PREFIX = "contract-kit";

	private final List<RedisLockProvider> processes = new ArrayList<>();

	private final List<RedisConnectionFactory> factories = new ArrayList<>();

	private final IntFunction<? extends RedisConnectionFactory> client;

	private final Jedis admin = TestRedis.admin();

	private final RedisFaults faults = new RedisFaults(this, this.admin);

	/**
	 * Creates a fixture.
	 * @param client makes a started connection factory for a port of this machine
	 */
	RedisFixture(IntFunction<? extends RedisConnectionFactory> client) {
		this.client = client;
		this.admin.flushAll();
	}

	@Override
	public LockProvider newProcess() {
		return newProcess(TestRedis.port());
	}

	LockProvider newProcess(int port) {
		RedisConnectionFactory factory = this.client.apply(port);
		this.factories.add(factory);
		RedisLockProvider process = new RedisLockProvider(factory, RedisLockSettings.defaults(PREFIX));
		this.processes.add(process);
		return process;
	}

	@Override
	public Optional<StoreFaults> faults() {
		return Optional.of(this.faults);
	}

	static byte[] lockName(LockKey key) {
		return new RedisKeys(PREFIX).lock(key);
	}

	@Override
	public void expire(LockKey key) {
		assertThat(this.admin.del(lockName(key))).isEqualTo(1);
	}

	@Override
	public long heldEntries() {
		return this.admin.keys("*")
			.stream()
			.filter((name) -> !name.endsWith("}:orders") && !name.endsWith("}:format"))
			.count();
	}

	@Override
	public Duration pollBound() {
		return AttemptReply.POLL;
	}

	@Override
	public boolean keepsOrders() {
		return false;
	}

	@Override
	public void close() {
		this.processes.forEach(RedisLockProvider::close);
		this.admin.close();
		for (RedisConnectionFactory factory : this.factories) {
			try {
				((DisposableBean) factory).destroy();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}
	}

}
