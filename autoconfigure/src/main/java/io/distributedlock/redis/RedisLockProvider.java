package io.distributedlock.redis;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ProcessLabel;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.redis.ScriptExecutor.Reply;

/**
 * Keeps locks in Redis: one string per held lock, one script per step, all times from the
 * server's clock.
 * <p>
 * A lock that nobody waits for costs one script to take and one to give back. Processes
 * that wait stand in a line per lock; a release reserves the lock for the first of them
 * and wakes that one alone. A server that cannot answer is a
 * {@link LockProviderException}, never a busy lock. Safe for use by many threads.
 * <p>
 * Redis replicates after it has answered: after a fail-over the new primary may not know
 * a lock that was granted. Its next holder's fencing token is higher as long as the new
 * primary's clock is not behind.
 *
 * @since 0.1.0
 */
public final class RedisLockProvider implements LockProvider, AutoCloseable {

	private static final Log logger = LogFactory.getLog(RedisLockProvider.class);

	private static final Duration PASS_ON_TIMEOUT = Duration.ofSeconds(1);

	private final RedisLayout keys;

	private final ScriptExecutor calls;

	private final BatchRenewal renewals;

	private final RedisContenderRegistry waiting = new RedisContenderRegistry();

	private final NotificationSubscription inbox;

	private final ReservationMonitor reservations = new ReservationMonitor();

	private final String process = OwnerId.random().text();

	private final byte[] processBytes = RedisLayout.bytes(this.process);

	private final byte[] label = RedisLayout.bytes(ProcessLabel.get());

	private final byte[] inboxes;

	/**
	 * Creates a provider. Does not yet talk to the server.
	 * @param factory makes the connections; stays the application's
	 * @param settings the settings
	 */
	public RedisLockProvider(RedisConnectionFactory factory, RedisLockSettings settings) {
		this.keys = new RedisLayout(settings.keyPrefix());
		this.calls = new ScriptExecutor(ScriptClientFactory.create(factory, settings.replicas()));
		this.renewals = new BatchRenewal(this.calls, this.keys, ScriptClientFactory.isCluster(factory));
		this.inboxes = RedisLayout.bytes(this.keys.inboxes());
		this.inbox = new NotificationSubscription(factory, this.keys.inboxes() + this.process, this.waiting,
				this::passOn);
	}

	@Override
	public String name() {
		return RedisErrors.PROVIDER;
	}

	String process() {
		return this.process;
	}

	NotificationSubscription inbox() {
		return this.inbox;
	}

	RedisContenderRegistry waiting() {
		return this.waiting;
	}

	@Override
	public LockContender enter(LockKey key, Runnable changed) {
		return new RedisContender(this, key, this.keys.names(key), changed);
	}

	/**
	 * Asks for a lock.
	 * @param score the place in line, as {@code attempt.lua} takes it
	 */
	AttemptReply attempt(RedisLockKeys names, OwnerId owner, Duration lease, String score, Duration timeout) {
		byte[][] arguments = { RedisLayout.bytes(owner.text()), BatchRenewal.millis(lease), this.label,
				this.processBytes, RedisLayout.bytes(score) };
		AttemptReply reply = new AttemptReply(this.calls.call(CallKind.ACQUIRE, timeout, new ScriptCall(Script.ATTEMPT,
				new byte[][] { names.lock(), names.orders(), names.line() }, arguments)));
		if (reply.isGranted() && reply.isResent()) {
			throw new LockProviderException(LockError.STORE_FAILED, name(),
					"lost the connection while it granted a lock: whether it is still granted is unclear", null);
		}
		if (reply.isGranted() && !reply.isReplicated()) {
			throw new LockProviderException(LockError.STORE_FAILED, name(),
					"granted a lock, but too few replicas had it in time: it is given back", null);
		}
		return reply;
	}

	@Override
	public Map<LockGrant, RenewalOutcome> renew(Map<LockGrant, Duration> leases, Duration timeout) {
		return leases.isEmpty() ? new HashMap<>() : this.renewals.renew(leases, timeout);
	}

	@Override
	public ReleaseOutcome release(LockKey key, OwnerId owner, Duration timeout) {
		return giveBack(Script.RELEASE, this.keys.names(key), RedisLayout.bytes(owner.text()), timeout);
	}

	ReleaseOutcome withdraw(RedisLockKeys names, Duration timeout) {
		return giveBack(Script.WITHDRAW, names, new byte[0], timeout);
	}

	private ReleaseOutcome giveBack(Script script, RedisLockKeys names, byte[] owner, Duration timeout) {
		ScriptCall call = new ScriptCall(script, new byte[][] { names.lock(), names.line() },
				new byte[][] { owner, this.processBytes, this.inboxes });
		try {
			Reply reply = this.calls.call(CallKind.RELEASE, timeout, call);
			if (reply.values().size() > 1 && reply.number(1) == 1) {
				this.reservations.made(names, this::passOnLapsed);
			}
			if (reply.resent()) {
				return ReleaseOutcome.UNKNOWN;
			}
			return (reply.number(0) == 1) ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD;
		}
		catch (LockException ex) {
			logger.debug("Whether '" + names.text() + "' was given back is not known", ex);
			return ReleaseOutcome.UNKNOWN;
		}
	}

	/** A lock was reserved for this process, in which nobody waits for it any more. */
	private void passOn(String lock) {
		this.reservations.unwanted(lock, () -> withdraw(this.keys.names(lock), PASS_ON_TIMEOUT));
	}

	/** Whoever the lock was reserved for should have taken it by now. */
	private void passOnLapsed(RedisLockKeys names) {
		giveBack(Script.PASS, names, new byte[0], PASS_ON_TIMEOUT);
	}

	@Override
	public void check(Duration timeout) {
		ServerCheck.check(this.calls, this.keys, timeout);
	}

	/**
	 * Closes the inbox and takes no more calls; those under way are not waited for. The
	 * connection factory stays open.
	 */
	@Override
	public void close() {
		this.inbox.close();
		this.reservations.close();
		this.calls.close();
	}

}
