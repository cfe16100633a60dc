package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntUnaryOperator;

import io.lettuce.core.RedisURI;
import redis.clients.jedis.Jedis;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.redis.RedisRights;
import io.distributedlock.redis.RedisServer;
import io.distributedlock.redis.TestClients;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.testkit.LockProviderFixture;
import io.distributedlock.testkit.StoreFaults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A quorum of servers that run for all tests: each test has a prefix of its own, and each
 * process has connections of its own, as a user that has only the rights that locks need.
 */
public final class RedisQuorumFixture implements LockProviderFixture {

	private static final AtomicInteger FIXTURES = new AtomicInteger();

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	/** After that no attempt of the contract is under way. */
	private static final Duration LONGEST_ATTEMPT = Duration.ofSeconds(6);

	private final String prefix = "quorum-kit-" + FIXTURES.incrementAndGet();

	private final RedisLayout layout = new RedisLayout(this.prefix);

	private final List<RedisQuorumLockProvider> processes = new CopyOnWriteArrayList<>();

	private final QuorumServers quorum;

	private final List<Jedis> admins;

	private final RedisQuorumFaults faults;

	public RedisQuorumFixture(QuorumServers quorum) {
		this.quorum = quorum;
		this.admins = quorum.servers().stream().map(RedisServer::admin).toList();
		this.admins.forEach((admin) -> RedisRights.grantForQuorum(admin, this.prefix));
		this.faults = new RedisQuorumFaults(this, quorum.servers());
	}

	@Override
	public LockProvider newProcess() {
		return newProcess((port) -> port);
	}

	/** A process that reaches the servers at other ports. */
	LockProvider newProcess(IntUnaryOperator ports) {
		List<RedisQuorumNode> nodes = new ArrayList<>();
		for (int port : this.quorum.ports()) {
			nodes.add(new RedisQuorumNode(RedisURI.builder()
				.withHost("127.0.0.1")
				.withPort(ports.applyAsInt(port))
				.withAuthentication(this.prefix, RedisRights.PASSWORD)
				.build(), null));
		}
		RedisQuorumLockProvider process = new RedisQuorumLockProvider(nodes,
				new RedisQuorumSettings(this.prefix, Duration.ofDays(1)), Duration.ZERO, TestClients.resources());
		this.processes.add(process);
		// The first connection of a JVM takes its time.
		process.check(PATIENCE);
		return process;
	}

	@Override
	public Optional<StoreFaults> faults() {
		return Optional.of(this.faults);
	}

	List<Jedis> admins() {
		return this.admins;
	}

	RedisLayout layout() {
		return this.layout;
	}

	/**
	 * A node that was slower than a majority may still be about to grant the lock, or has
	 * missed the attempt on a loaded machine.
	 */
	@Override
	public synchronized void expire(LockKey key) {
		byte[] lock = this.layout.lock(key);
		long start = System.nanoTime();
		await().pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(1))
			.atMost(PATIENCE)
			.until(() -> this.admins.stream().allMatch((admin) -> admin.exists(lock))
					|| System.nanoTime() - start > LONGEST_ATTEMPT.toNanos());
		assertThat(this.admins.stream().mapToLong((admin) -> admin.del(lock)).sum())
			.isGreaterThanOrEqualTo(NodeJoin.majority(this.quorum.ports().size()));
	}

	private Set<String> entries(Jedis admin) {
		return admin.keys("{" + this.prefix + ":*");
	}

	@Override
	public synchronized long heldEntries() {
		return this.admins.stream()
			.flatMap((admin) -> entries(admin).stream())
			.filter((name) -> name.contains("}:lock:"))
			.distinct()
			.count();
	}

	@Override
	public Duration pollBound() {
		return QuorumContender.LONGEST_PAUSE;
	}

	@Override
	public boolean keepsOrders() {
		return false;
	}

	@Override
	public boolean hasWaitQueue() {
		return false;
	}

	@Override
	public boolean mayRefuseAll() {
		return true;
	}

	@Override
	public void close() {
		this.processes.forEach(RedisQuorumLockProvider::close);
		assertThat(this.admins).flatExtracting(Jedis::aclLog)
			.filteredOn((refused) -> refused.getUsername().equals(this.prefix))
			.isEmpty();
		for (Jedis admin : this.admins) {
			admin.aclDelUser(this.prefix);
			entries(admin).forEach(admin::del);
			admin.close();
		}
	}

}
