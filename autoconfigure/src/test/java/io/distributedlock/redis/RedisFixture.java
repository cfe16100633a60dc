package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.LockProvider;
import io.distributedlock.support.LockProviderFixture;
import io.distributedlock.support.StoreFaults;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Servers of one kind, emptied for each test; each process has connections of its own, as
 * a user that has only the rights that locks need.
 */
final class RedisFixture implements LockProviderFixture {

	static final String PREFIX = "contract-kit";

	private final List<RedisLockProvider> processes = new ArrayList<>();

	private final List<RedisConnectionFactory> factories = new ArrayList<>();

	private final Supplier<RedisConnectionFactory> client;

	private final ToIntFunction<byte[]> owner;

	private final List<Jedis> masters;

	private final @Nullable RedisFaults faults;

	private RedisFixture(Supplier<RedisConnectionFactory> client, List<RedisServer> masters,
			ToIntFunction<byte[]> owner, @Nullable Function<RedisFixture, RedisFaults> faults) {
		this.client = client;
		this.owner = owner;
		this.masters = masters.stream().map(RedisServer::admin).toList();
		this.masters.forEach((master) -> {
			master.flushAll();
			RedisRights.grantForKit(master);
			master.aclLogReset();
		});
		this.faults = (faults != null) ? faults.apply(this) : null;
	}

	/** Over the standalone server of the tests. */
	static RedisFixture standalone(Function<RedisConfiguration, ? extends RedisConnectionFactory> client) {
		return new RedisFixture(() -> client.apply(RedisRights.login(TestRedis.standalone(TestRedis.port()))),
				List.of(TestRedis.server()), (key) -> 0, (fixture) -> new RedisFaults(fixture, client));
	}

	static RedisFixture cluster(Function<RedisConfiguration, ? extends RedisConnectionFactory> client) {
		TestCluster cluster = TestCluster.shared();
		return new RedisFixture(() -> client.apply(RedisRights.login(cluster.configuration())), cluster.masters(),
				(key) -> cluster.masters().indexOf(cluster.owner(TestCluster.slot(key))), null);
	}

	static RedisFixture sentinels(Function<RedisConfiguration, ? extends RedisConnectionFactory> client) {
		TestSentinels sentinels = TestSentinels.shared();
		return new RedisFixture(() -> client.apply(RedisRights.login(sentinels.configuration())),
				List.of(sentinels.primary()), (key) -> 0, null);
	}

	@Override
	public LockProvider newProcess() {
		return newProcess(this.client.get());
	}

	LockProvider newProcess(RedisConnectionFactory factory) {
		this.factories.add(factory);
		RedisLockProvider process = new RedisLockProvider(factory, RedisLockSettings.defaults(PREFIX));
		this.processes.add(process);
		return process;
	}

	@Override
	public Optional<StoreFaults> faults() {
		return Optional.ofNullable(this.faults);
	}

	/** Sees what no provider shows. */
	Jedis admin(byte[] key) {
		return this.masters.get(this.owner.applyAsInt(key));
	}

	static byte[] lockName(LockKey key) {
		return new RedisKeys(PREFIX).lock(key);
	}

	@Override
	public void expire(LockKey key) {
		assertThat(admin(lockName(key)).del(lockName(key))).isEqualTo(1);
	}

	@Override
	public long heldEntries() {
		return this.masters.stream()
			.flatMap((master) -> master.keys("*").stream())
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
		assertThat(this.masters).allSatisfy((master) -> assertThat(master.aclLog()).isEmpty());
		this.masters.forEach(Jedis::close);
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
