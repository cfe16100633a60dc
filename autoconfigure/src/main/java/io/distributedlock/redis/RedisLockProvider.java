package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AnsweredStoreCall;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockInspector;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.provider.StoredLock;
import io.distributedlock.redis.check.AttemptGate;
import io.distributedlock.redis.check.ClusterMastersCheck;
import io.distributedlock.redis.check.ProxyCheck;
import io.distributedlock.redis.check.StartCheck;
import io.distributedlock.redis.check.TopologyCheck;
import io.distributedlock.redis.check.TwemproxyCheck;
import io.distributedlock.redis.check.TwemproxyScriptExecutor;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.ScriptExecutor;

/**
 * Provider of locks in Redis: one string per held lock, one script per step, all times
 * from the server's clock.
 * <p>
 * A lock without waiting processes costs one script to acquire and one to release.
 * Waiting processes are in one wait queue per lock; a release reserves the lock for the
 * first of them and notifies that one alone. A server that cannot reply is a
 * {@link LockProviderException}, never a busy lock. Safe for use by many threads.
 * <p>
 * Redis replicates after it has replied: after a fail-over the new master may not know a
 * lock that was granted. The next fencing token is higher as long as the clock of the new
 * master is not behind.
 *
 * @since 0.1.0
 */
public final class RedisLockProvider implements LockProvider, LockInspector, AutoCloseable {

	private static final Log logger = LogFactory.getLog(RedisLockProvider.class);

	private final OwnerId process = OwnerId.random();

	/** The id of this process as a contender for shares. */
	private final OwnerId shareProcess = this.process.ofShare(true);

	private final RedisLayout layout;

	private final LockTimer timer = new LockTimer("redis-timer");

	private final ScriptExecutor executor;

	private final StartCheck startCheck;

	private final ServerInspector inspector;

	private final RedisLockRecipe repository;

	private final RedisLockRecipe shareRepository;

	private final RedisRenewal renewal;

	private final RedisContenderRegistry contenders = new RedisContenderRegistry();

	private final RedisContenderRegistry shareContenders = new RedisContenderRegistry();

	private final NotificationSubscription subscription;

	/**
	 * Creates a provider. Does not yet connect to the server.
	 * @param factory makes the connections; remains open when the provider is closed
	 * @param settings the settings
	 */
	public RedisLockProvider(RedisConnectionFactory factory, RedisLockSettings settings) {
		this.layout = new RedisLayout(settings.keyPrefix());
		ScriptExecutor client = ScriptExecutorFactory.create(factory, settings.replicaRequirement(), this.timer);
		boolean twemproxy = settings.behindTwemproxy();
		boolean cluster = ScriptExecutorFactory.isCluster(factory);
		if (twemproxy && cluster) {
			throw RedisErrors.twemproxyBeforeCluster();
		}
		boolean severalServers = twemproxy || cluster;
		TopologyCheck servers;
		if (twemproxy) {
			TwemproxyScriptExecutor proxied = new TwemproxyScriptExecutor(client, this.layout, this.timer);
			this.executor = proxied;
			servers = new TwemproxyCheck(proxied, this.layout);
		}
		else {
			this.executor = client;
			servers = severalServers ? new ClusterMastersCheck(client, this.layout) : new ProxyCheck(this.layout);
		}
		this.startCheck = new StartCheck(this.executor, this.layout, this.timer, servers, severalServers);
		this.inspector = new ServerInspector(this.executor, this.layout);
		String channelPrefix = this.layout.channelPrefix();
		AttemptGate gate = new AttemptGate(this.executor, this.startCheck);
		ReservationMonitor reservations = new ReservationMonitor(this.timer);
		this.repository = new RedisLockRecipe(this.executor, gate, reservations, this.process, channelPrefix);
		this.shareRepository = new RedisLockRecipe(this.executor, gate, reservations, this.shareProcess, channelPrefix);
		this.renewal = new RedisRenewal(this.executor, this.layout, this.timer, severalServers);
		this.subscription = new NotificationSubscription(ScriptExecutorFactory.subscriptions(factory, this.executor),
				List.of(channelPrefix + this.process, channelPrefix + this.shareProcess), this::receive, () -> {
					this.contenders.subscribed();
					this.shareContenders.subscribed();
				}, this.timer);
		if (twemproxy) {
			// Twemproxy closes a connection that subscribes.
			this.subscription.close();
		}
	}

	/** Handles a message that may be none of ours: anybody can publish. */
	private void receive(byte[] channel, byte[] message) {
		String lockName = new String(message, StandardCharsets.UTF_8);
		boolean share = new String(channel, StandardCharsets.UTF_8).endsWith(this.shareProcess.text());
		RedisContenderRegistry registry = share ? this.shareContenders : this.contenders;
		RedisLockRecipe recipe = share ? this.shareRepository : this.repository;
		try {
			if (!registry.notify(lockName)) {
				recipe.removeEntry(lockName);
				// A contender that has just claimed the entry is registered now.
				if (!registry.notify(lockName)) {
					recipe.withdrawInBackground(this.layout.keys(lockName));
				}
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The notification names no lock: '" + lockName + "'", ex);
		}
	}

	@Override
	public String name() {
		return RedisErrors.PROVIDER;
	}

	/**
	 * Whether calls wait for the reply of the server.
	 * @return {@code false} with Lettuce, whose event loops complete the calls, or a few
	 * workers where it shares no connection; {@code true} with Jedis
	 */
	@Override
	public boolean isBlocking() {
		return this.executor.isBlocking();
	}

	/** The id of this process in wait queues, reservations and its channel. */
	String process() {
		return this.process.text();
	}

	NotificationSubscription subscription() {
		return this.subscription;
	}

	/** The contenders of this process that are in a wait queue. */
	RedisContenderRegistry contenders() {
		return this.contenders;
	}

	@Override
	public LockContender newContender(LockKey key, Runnable onNotified) {
		return new RedisContender(key, this.layout.keys(key), 0, this.repository, this.subscription, this.contenders,
				onNotified);
	}

	@Override
	public boolean supports(LockMode mode) {
		return true;
	}

	@Override
	public LockContender newShareContender(LockKey key, int limit, Runnable onNotified) {
		return new RedisContender(key, this.layout.keys(key), limit, this.shareRepository, this.subscription,
				this.shareContenders, onNotified);
	}

	private RedisLockRecipe repository(OwnerId owner) {
		return owner.isShare() ? this.shareRepository : this.repository;
	}

	/**
	 * Returns the node of a cluster that keeps a key.
	 * @param key the key
	 * @return the master of its slot, as the client or its last call knows it, else the
	 * number of its bucket, all of whose keys are on one node; the same for all keys of a
	 * single server
	 */
	@Override
	public Object node(LockKey key) {
		return this.renewal.node(key);
	}

	@Override
	public StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		return leases.isEmpty() ? AnsweredStoreCall.of(Map.of()) : this.renewal.renew(leases, timeout);
	}

	/**
	 * Returns how many grants one call renews.
	 * @return 100, in a cluster 100 for each bucket, since each is a script of its own
	 */
	@Override
	public int renewalBatchSize() {
		return this.renewal.size();
	}

	@Override
	public boolean supportsMinHold() {
		return true;
	}

	@Override
	public StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration keepFor, Duration timeout) {
		return (keepFor.isZero() || owner.isShare())
				? repository(owner).release(this.layout.keys(key), RedisLayout.held(owner), timeout)
				: this.repository.keep(this.layout.keys(key), owner, keepFor, timeout);
	}

	@Override
	public StoreCall<ReleaseOutcome> release(LockGrant grant, Duration timeout) {
		return grant.owner().isShare() ? release(grant.key(), grant.owner(), Duration.ZERO, timeout)
				: this.repository.release(this.layout.keys(grant.key()), this.repository.value(grant), timeout);
	}

	/**
	 * Checks that the server replies, and until that has succeeded once what else locks
	 * need. In a cluster the masters that do not reply are checked before the first
	 * attempt at a lock that they keep.
	 */
	@Override
	public void check(Duration timeout) {
		this.startCheck.check(timeout);
	}

	/**
	 * Checks that each master that the client knows replies and accepts writes.
	 */
	@Override
	public void probe(Duration timeout) {
		this.inspector.probe(timeout);
	}

	/**
	 * Finds the present grant of a key. Redis keeps the order of a share only.
	 */
	@Override
	public Optional<StoredLock> find(LockKey key, Duration timeout) {
		return findAll(key, timeout).stream().findFirst();
	}

	@Override
	public List<StoredLock> findAll(LockKey key, Duration timeout) {
		return this.inspector.findAll(key, timeout);
	}

	@Override
	public ReleaseOutcome forceRelease(LockKey key, StoredLock lock, Duration timeout) {
		return (lock.owner() != null) ? ReleaseResult.await(release(key, lock.owner(), timeout), timeout)
				: ReleaseOutcome.NOT_HELD;
	}

	private void withdrawUnclaimed() {
		Deadline end = Deadline.after(ReservationMonitor.STEP_TIMEOUT);
		for (String lockName : this.repository.removeUnclaimed()) {
			if (!end.isPast()) {
				this.repository.withdraw(this.layout.keys(lockName), end.remaining(), (outcome) -> {
					// The next process waits for a reservation more if this fails.
				});
			}
		}
	}

	/**
	 * Withdraws from wait queues, ends the subscription and rejects further calls. Waits
	 * up to a second for calls that still run, and interrupts those that go on; their end
	 * and that of the subscription may take two seconds more. The connection factory
	 * remains open.
	 */
	@Override
	public void close() {
		withdrawUnclaimed();
		this.subscription.close();
		this.executor.close();
		// Last, since the calls under way need it.
		this.timer.close();
	}

}
