package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.IntUnaryOperator;
import java.util.function.ToIntFunction;
import java.util.function.UnaryOperator;

import redis.clients.jedis.Jedis;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.testkit.LockProviderFixture;
import io.distributedlock.testkit.OnePermit;
import io.distributedlock.testkit.StoreFaults;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Servers of one kind, of which each test has a prefix of its own; each process has
 * connections of its own, as a user that has only the rights that locks need.
 */
final class RedisFixture implements LockProviderFixture {

	private static final AtomicInteger FIXTURES = new AtomicInteger();

	private final String prefix = "contract-kit-" + FIXTURES.incrementAndGet();

	private final RedisLayout layout = new RedisLayout(this.prefix);

	private final List<RedisLockProvider> processes = new ArrayList<>();

	private final List<RedisConnectionFactory> factories = new ArrayList<>();

	private final Function<IntUnaryOperator, RedisConnectionFactory> client;

	private final ToIntFunction<byte[]> owner;

	private final List<Jedis> masters;

	private final RedisFaults faults;

	private final RedisLockSettings settings;

	private UnaryOperator<LockProvider> grants = UnaryOperator.identity();

	private RedisFixture(RedisConfiguration servers, TestClients.Client client, List<RedisServer> masters,
			ToIntFunction<byte[]> owner) {
		this.client = (ports) -> client.connect(RedisRights.login(servers, this.prefix), ports);
		this.owner = owner;
		this.masters = masters.stream().map(RedisServer::admin).toList();
		this.masters.forEach((master) -> RedisRights.grantForKit(master, this.prefix));
		this.faults = new RedisFaults(this, masters, null);
		this.settings = RedisLockSettings.defaults(this.prefix);
	}

	/** Twemproxy knows no users. */
	private RedisFixture(TestTwemproxy twemproxy, TestClients.Client client) {
		this.client = (ports) -> client.connect(twemproxy.configuration(), ports);
		this.owner = twemproxy::owner;
		this.masters = twemproxy.servers().stream().map(RedisServer::admin).toList();
		this.faults = new RedisFaults(this, twemproxy.servers(), twemproxy.proxy());
		this.settings = new RedisLockSettings(this.prefix, 0, RedisLockSettings.DEFAULT_REPLICA_TIMEOUT, true);
	}

	/** Over two servers behind Twemproxy. */
	static RedisFixture twemproxy(TestClients.Client client) {
		return new RedisFixture(TestTwemproxy.shared(), client);
	}

	/** Over the standalone server of the tests. */
	static RedisFixture standalone(TestClients.Client client) {
		return standalone(TestRedis.server(), client);
	}

	/** Over a standalone server of the oldest version that locks support. */
	static RedisFixture oldest(TestClients.Client client) {
		return standalone(TestRedis.oldest(), client);
	}

	private static RedisFixture standalone(RedisServer server, TestClients.Client client) {
		return new RedisFixture(TestRedis.standalone(server.port()), client, List.of(server), (key) -> 0);
	}

	static RedisFixture cluster(TestClients.Client client) {
		TestCluster cluster = TestCluster.shared();
		return new RedisFixture(cluster.configuration(), client, cluster.masters(),
				(key) -> cluster.masters().indexOf(cluster.owner(TestCluster.slot(key))));
	}

	static RedisFixture sentinels(TestClients.Client client) {
		TestSentinels sentinels = TestSentinels.shared();
		return new RedisFixture(sentinels.configuration(), client, List.of(sentinels.primary()), (key) -> 0);
	}

	/** Makes a permit of one of each exclusive grant. */
	RedisFixture ofPermits() {
		this.grants = OnePermit::of;
		return this;
	}

	@Override
	public LockProvider newProcess() {
		return newProcess(TestClients.SAME_PORTS);
	}

	/** A process that finds other ports where the servers say theirs. */
	LockProvider newProcess(IntUnaryOperator ports) {
		RedisConnectionFactory factory = this.client.apply(ports);
		this.factories.add(factory);
		// The first connection of a JVM takes its time.
		factory.getConnection().close();
		RedisLockProvider process = new RedisLockProvider(factory, this.settings);
		this.processes.add(process);
		return this.grants.apply(process);
	}

	@Override
	public Optional<StoreFaults> faults() {
		return Optional.of(this.faults);
	}

	List<Jedis> masters() {
		return this.masters;
	}

	/** Sees what no provider shows. */
	Jedis admin(byte[] key) {
		return this.masters.get(this.owner.applyAsInt(key));
	}

	RedisLayout layout() {
		return this.layout;
	}

	@Override
	public void expire(LockKey key) {
		byte[] lock = this.layout.lock(key);
		assertThat(admin(lock).del(lock)).isEqualTo(1);
	}

	/** All that the fixture's user can have written. */
	private Set<String> entries(Jedis master) {
		return master.keys("{" + this.prefix + ":*");
	}

	@Override
	public long heldEntries() {
		return this.masters.stream()
			.flatMap((master) -> entries(master).stream())
			.filter((name) -> !name.endsWith("}:last-order") && !name.endsWith("}:format"))
			.count();
	}

	@Override
	public Duration pollBound() {
		return this.settings.behindTwemproxy() ? RedisLayout.RESERVATION : RedisLayout.POLL_INTERVAL;
	}

	@Override
	public boolean keepsOrders() {
		return false;
	}

	@Override
	public void close() {
		this.processes.forEach(RedisLockProvider::close);
		for (RedisConnectionFactory factory : this.factories) {
			try {
				((DisposableBean) factory).destroy();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}
		assertThat(this.masters).flatExtracting(Jedis::aclLog)
			.filteredOn((refused) -> refused.getUsername().equals(this.prefix))
			// Redis 6.2 names no subcommand: the clients' CLIENT SETINFO, which it lacks.
			.filteredOn((refused) -> !refused.getObject().equals("client"))
			.isEmpty();
		for (Jedis master : this.masters) {
			if (!this.settings.behindTwemproxy()) {
				master.aclDelUser(this.prefix);
			}
			entries(master).forEach(master::del);
			master.close();
		}
	}

}
