package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.netty.util.concurrent.DefaultThreadFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockInspector;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.LongestLease;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.provider.StoredLock;
import io.distributedlock.redis.AttemptReply;
import io.distributedlock.redis.ReleaseResult;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.RedisLockKeys;
import io.distributedlock.redis.script.Script;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptReply;

/**
 * Provider of locks in a quorum of independent Redis servers: a lock is granted, renewed
 * and released by a majority of them, so that a minority may be down, slow or empty.
 * <p>
 * A grant costs two round trips, which all nodes make together: one that grants the lock,
 * and one by which a majority learns the highest order. Processes that wait are not
 * queued; they ask again after random pauses. A server that has restarted takes part in
 * nothing until the longest lease has passed since its start. Safe for use by many
 * threads.
 *
 * @since 0.1.0
 */
public final class RedisQuorumLockProvider implements LockProvider, LockInspector, AutoCloseable {

	/** The fewest nodes: of two, each one would be needed. */
	public static final int FEWEST_NODES = 3;

	/** The most nodes. */
	public static final int MOST_NODES = 7;

	private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

	private final RedisLayout layout;

	private final Duration maxLease;

	private final LockTimer timer = new LockTimer("redis-timer");

	private final ClientResources resources;

	private final boolean ownsResources;

	private final List<LettuceQuorumNode> members;

	private final Quorum quorum;

	/**
	 * Creates a provider. Does not yet connect to the servers.
	 * @param nodes the servers, 3 to 7 different ones
	 * @param settings the settings
	 * @throws LockConfigurationException if the number of servers is out of its range, or
	 * one occurs twice
	 */
	public RedisQuorumLockProvider(List<RedisQuorumNode> nodes, RedisQuorumSettings settings) {
		this(nodes, settings, QuorumNodeCheck.restartDelay(settings.maxLease()), null);
	}

	/**
	 * Creates a provider, in tests of servers that have just been started.
	 * @param restartDelay how long a server takes part in nothing after its start
	 * @param shared the threads of the client, which remain; {@code null} for its own
	 */
	RedisQuorumLockProvider(List<RedisQuorumNode> nodes, RedisQuorumSettings settings, Duration restartDelay,
			@Nullable ClientResources shared) {
		requireDistinct(nodes);
		this.layout = new RedisLayout(settings.keyPrefix());
		this.maxLease = settings.maxLease();
		this.ownsResources = shared == null;
		this.resources = (shared != null) ? shared : newResources();
		NodeJoin join = new NodeJoin(this.layout, nodes.size(), this.timer);
		QuorumNodeCheck check = new QuorumNodeCheck(this.layout, this.maxLease, restartDelay);
		this.members = nodes.stream()
			.map((node) -> new LettuceQuorumNode(node, this.resources, check, join, this.timer))
			.toList();
		this.quorum = new Quorum(List.copyOf(this.members), this.timer, OwnerId.random().text());
	}

	private static ClientResources newResources() {
		return DefaultClientResources.builder()
			.ioThreadPoolSize(2)
			.computationThreadPoolSize(2)
			.threadFactoryProvider((pool) -> new DefaultThreadFactory("distributed-lock-redis-quorum-" + pool, true))
			.build();
	}

	private static void requireDistinct(List<RedisQuorumNode> nodes) {
		List<String> names = nodes.stream().map(RedisQuorumNode::name).toList();
		if (names.size() < FEWEST_NODES || names.size() > MOST_NODES) {
			throw refused(names.size() + " server(s), but a quorum has " + FEWEST_NODES + " to " + MOST_NODES,
					"Name 3 servers, of which 1 may be down, or 5, of which 2 may be");
		}
		for (String name : names) {
			if (Collections.frequency(names, name) > 1) {
				throw refused("the server " + name + " twice, so that it would vote twice", "Name each server once");
			}
		}
	}

	private static LockConfigurationException refused(String problem, String action) {
		return new LockConfigurationException(LockError.INVALID_PROPERTY,
				"The property distributed-lock.redis.quorum.nodes names " + problem, action);
	}

	@Override
	public String name() {
		return RedisErrors.PROVIDER;
	}

	@Override
	public boolean isBlocking() {
		return false;
	}

	/** The nodes, and what waits to be released on them. */
	Quorum quorum() {
		return this.quorum;
	}

	@Override
	public LockContender newContender(LockKey key, Runnable onNotified) {
		return new QuorumContender(this.quorum, key, this.layout.keys(key), this.maxLease);
	}

	/**
	 * Whether the quorum grants a key in a mode.
	 * @return {@code false} for permits: two majorities with fewer than the limit each
	 * may have more together
	 */
	@Override
	public boolean supports(LockMode mode) {
		return mode != LockMode.PERMIT;
	}

	/** Creates a contender for shares without a limit, which their owner ids tell. */
	@Override
	public LockContender newShareContender(LockKey key, int limit, Runnable onNotified) {
		if (limit != Integer.MAX_VALUE) {
			throw new UnsupportedOperationException("A quorum of Redis servers has no permits");
		}
		return newContender(key, onNotified);
	}

	@Override
	public StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		List<LockGrant> grants = List.copyOf(leases.keySet());
		byte[][] locks = grants.stream().map((grant) -> this.layout.lock(grant.key())).toArray(byte[][]::new);
		byte[][] arguments = grants.stream()
			.flatMap((grant) -> Stream.of(RedisLayout.bytes(grant.owner().text()),
					ScriptCall.millis(Objects.requireNonNull(leases.get(grant)))))
			.toArray(byte[][]::new);
		return new QuorumRenewal(this.quorum, grants).send(new ScriptCall(Script.RENEW, locks, arguments), timeout);
	}

	@Override
	public int renewalBatchSize() {
		return QuorumRenewal.BATCH_SIZE;
	}

	@Override
	public boolean supportsMinHold() {
		return true;
	}

	@Override
	public StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration keepFor, Duration timeout) {
		RedisLockKeys keys = this.layout.keys(key);
		ScriptCall plain = this.quorum.release(keys, owner);
		return new QuorumRelease(this.quorum, owner, plain, this.maxLease)
			.send((keepFor.isZero() || owner.isShare()) ? plain : this.quorum.keep(keys, owner, keepFor), timeout);
	}

	/**
	 * Checks that a majority of the servers replies and can be part of a quorum. One that
	 * cannot, whatever becomes of it, fails the check.
	 */
	@Override
	public void check(Duration timeout) {
		List<NodeCall> calls = probe(timeout, this.quorum.size());
		for (NodeCall call : calls) {
			LockProviderException failure = call.failure();
			if (failure != null && failure.getCause() instanceof LockConfigurationException refusal) {
				throw refusal;
			}
		}
		repliesOfMajority(calls);
	}

	/** Checks that a majority of the servers replies and accepts writes. */
	@Override
	public void probe(Duration timeout) {
		repliesOfMajority(probe(timeout, this.quorum.majority()));
	}

	private List<NodeCall> probe(Duration timeout, int enough) {
		byte[] none = ScriptCall.probe(this.layout.lastOrder(0)).keys()[0];
		return ask(new ScriptCall(Script.HEALTH, new byte[][] { none, this.layout.format() }, new byte[0][]), timeout,
				enough);
	}

	/** Sends a script to all nodes, and waits until enough of them have replied. */
	private List<NodeCall> ask(ScriptCall script, Duration timeout, int enough) {
		Deadline deadline = Deadline.after(timeout);
		List<NodeCall> calls = NodeCall.of(this.quorum.nodes());
		CountDownLatch done = new CountDownLatch(1);
		this.quorum.send(calls, script, CallKind.ACQUIRE, deadline, (ended) -> {
			if (NodeCall.replies(calls).size() >= enough || NodeCall.areDone(calls)) {
				done.countDown();
			}
		});
		try {
			deadline.await(CallKind.ACQUIRE, (nanos) -> done.await(nanos, TimeUnit.NANOSECONDS));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw RedisErrors.interrupted(ex);
		}
		calls.forEach((call) -> call.call().abandon());
		return calls;
	}

	private List<ScriptReply> repliesOfMajority(List<NodeCall> calls) {
		List<ScriptReply> replies = NodeCall.replies(calls);
		if (replies.size() < this.quorum.majority()) {
			throw this.quorum.noMajority(calls, false);
		}
		return replies;
	}

	@Override
	public Map<String, String> nodeStates() {
		Map<String, String> states = new LinkedHashMap<>();
		this.quorum.nodes().forEach((node) -> states.put(node.name(), node.state()));
		return states;
	}

	@Override
	public Optional<LongestLease> longestLease() {
		return Optional.of(new LongestLease(this.maxLease, RedisQuorumSettings.MAX_LEASE));
	}

	/** Finds the owner to which a majority has granted a key. */
	@Override
	public Optional<StoredLock> find(LockKey key, Duration timeout) {
		return findAll(key, timeout).stream().findFirst();
	}

	/** Finds the owners to which a majority has granted a key or its shares. */
	@Override
	public List<StoredLock> findAll(LockKey key, Duration timeout) {
		List<ScriptReply> replies = repliesOfMajority(
				ask(new ScriptCall(Script.INSPECT, new byte[][] { this.layout.lock(key) }, new byte[0][]), timeout,
						this.quorum.size()));
		Map<@Nullable OwnerId, Integer> owners = new HashMap<>();
		List<StoredLock> locks = new ArrayList<>();
		for (ScriptReply reply : replies) {
			for (StoredLock lock : AttemptReply.stored(reply, key)) {
				if (owners.merge(lock.owner(), 1, Integer::sum) == this.quorum.majority()) {
					// No node has the order of the grant by a majority.
					locks.add(new StoredLock(lock.key(), lock.owner(), null, lock.holder()));
				}
			}
		}
		return locks;
	}

	@Override
	public ReleaseOutcome forceRelease(LockKey key, StoredLock lock, Duration timeout) {
		return (lock.owner() != null) ? ReleaseResult.await(release(key, lock.owner(), timeout), timeout)
				: ReleaseOutcome.NOT_HELD;
	}

	/** Closes all connections, and rejects further calls. Waits two seconds at most. */
	@Override
	public void close() {
		Deadline end = Deadline.after(CLOSE_TIMEOUT);
		// First, so that nothing is repeated from here on.
		this.timer.close();
		CountDownLatch closed = new CountDownLatch(this.members.size());
		this.members.forEach((node) -> node.close().whenComplete((nothing, failure) -> closed.countDown()));
		end.awaitUninterruptibly((nanos) -> closed.await(nanos, TimeUnit.NANOSECONDS));
		if (this.ownsResources) {
			this.resources.shutdown(0, CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
				.awaitUninterruptibly(Math.max(end.remaining().toMillis(), 1));
		}
	}

}
