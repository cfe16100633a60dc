package io.distributedlock.redis;

import java.time.Duration;
import java.util.OptionalLong;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ProcessLabel;
import io.distributedlock.provider.ReleaseOutcome;

/**
 * The steps of the recipe for one lock, each of which runs one script:
 * {@linkplain #attempt attempt}, {@linkplain #release release}, {@linkplain #withdraw
 * withdraw}, and the end of a reservation that was not used.
 */
final class RedisLockRepository implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(RedisLockRepository.class);

	/** The time-out of steps that no caller waits for. */
	private static final Duration BACKGROUND_TIMEOUT = Duration.ofSeconds(1);

	private final ScriptExecutor executor;

	private final ReservationMonitor reservations = new ReservationMonitor();

	private final byte[] process;

	private final byte[] label = RedisLayout.bytes(ProcessLabel.get());

	private final byte[] channelPrefix;

	/**
	 * Creates the steps of one process.
	 * @param process the id of the process in wait queues, reservations and its channel
	 * @param channelPrefix the beginning of the channels' names
	 */
	RedisLockRepository(ScriptExecutor executor, String process, String channelPrefix) {
		this.executor = executor;
		this.process = RedisLayout.bytes(process);
		this.channelPrefix = RedisLayout.bytes(channelPrefix);
	}

	/**
	 * Attempts to acquire a lock.
	 * @param score the score with which the process enters the wait queue if the lock is
	 * busy, 0 for a new one; empty if the process does not wait
	 * @throws LockProviderException if it is unknown whether the lock was granted, or too
	 * few replicas acknowledged the grant
	 */
	AttemptReply attempt(RedisLockKeys keys, OwnerId owner, Duration lease, OptionalLong score, Deadline deadline) {
		byte[][] arguments = { RedisLayout.bytes(owner.text()), ScriptCall.millis(lease), this.label, this.process,
				RedisLayout.bytes(score.isPresent() ? Long.toString(score.getAsLong()) : "") };
		AttemptReply reply = new AttemptReply(this.executor.execute(CallKind.ACQUIRE, deadline, new ScriptCall(
				Script.ATTEMPT, new byte[][] { keys.lock(), keys.lastOrder(), keys.queue() }, arguments)));
		if (reply.isGranted() && reply.isResent()) {
			throw new LockProviderException(LockError.STORE_FAILED, RedisErrors.PROVIDER,
					"lost the connection while it granted a lock: whether the lock is still held is unknown", null);
		}
		if (reply.isGranted() && !reply.isReplicated()) {
			throw new LockProviderException(LockError.STORE_FAILED, RedisErrors.PROVIDER,
					"granted a lock, but too few replicas acknowledged it in time: the lock is released", null);
		}
		return reply;
	}

	/**
	 * Releases a lock, if the owner still holds it, to the first process in the queue.
	 */
	ReleaseOutcome release(RedisLockKeys keys, OwnerId owner, Duration timeout) {
		return run(Script.RELEASE, keys, RedisLayout.bytes(owner.text()), timeout);
	}

	/** Removes this process from the wait queue, and its reservation of the lock. */
	ReleaseOutcome withdraw(RedisLockKeys keys, Duration timeout) {
		return run(Script.WITHDRAW, keys, new byte[0], timeout);
	}

	/** Withdraws in the background a reservation for which no contender waits. */
	void withdrawInBackground(RedisLockKeys keys) {
		this.reservations.runNow(keys.name(), () -> withdraw(keys, BACKGROUND_TIMEOUT));
	}

	private void expireReservation(RedisLockKeys keys) {
		run(Script.EXPIRE_RESERVATION, keys, new byte[0], BACKGROUND_TIMEOUT);
	}

	private ReleaseOutcome run(Script script, RedisLockKeys keys, byte[] owner, Duration timeout) {
		ScriptCall call = new ScriptCall(script, new byte[][] { keys.lock(), keys.queue() },
				new byte[][] { owner, this.process, this.channelPrefix });
		try {
			ScriptReply reply = this.executor.execute(CallKind.RELEASE, Deadline.after(timeout), call);
			if (reply.values().size() > 1 && reply.number(1) == 1) {
				this.reservations.runAfterReservation(keys.name(), () -> expireReservation(keys));
			}
			if (reply.resent()) {
				return ReleaseOutcome.UNKNOWN;
			}
			return (reply.number(0) == 1) ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD;
		}
		catch (LockException ex) {
			logger.debug("Whether '" + keys.name() + "' was released is unknown", ex);
			return ReleaseOutcome.UNKNOWN;
		}
	}

	/** Cancels the background steps; the executor stays open. */
	@Override
	public void close() {
		this.reservations.close();
	}

}
