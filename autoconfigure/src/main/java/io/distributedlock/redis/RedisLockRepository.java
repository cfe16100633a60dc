package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ProcessLabel;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.StoreCall;

/**
 * The steps of the recipe for one lock, each of which runs one script:
 * {@linkplain #attempt attempt}, {@linkplain #release release}, {@linkplain #withdraw
 * withdraw}, and the end of a reservation that was not used.
 */
final class RedisLockRepository {

	private static final Log logger = LogFactory.getLog(RedisLockRepository.class);

	private static final Consumer<ReleaseOutcome> NOTHING = (outcome) -> {
	};

	private final ScriptExecutor executor;

	private final ReservationMonitor reservations;

	private final DeniedCommands denied = new DeniedCommands();

	private final byte[] process;

	private final byte[] label = RedisLayout.bytes(ProcessLabel.get());

	private final byte[] channelPrefix;

	/**
	 * Creates the steps of one process.
	 * @param process the id of the process in wait queues, reservations and its channel
	 * @param channelPrefix the beginning of the channels' names
	 */
	RedisLockRepository(ScriptExecutor executor, ReservationMonitor reservations, String process,
			String channelPrefix) {
		this.executor = executor;
		this.reservations = reservations;
		this.process = RedisLayout.bytes(process);
		this.channelPrefix = RedisLayout.bytes(channelPrefix);
	}

	/** Whether each step waits for its end. */
	boolean isBlocking() {
		return this.executor.isBlocking();
	}

	/**
	 * Attempts to acquire a lock.
	 * @param score the score with which the process enters the wait queue if the lock is
	 * busy, 0 for a new one; empty if the process does not wait
	 * @param operation what follows the reply
	 */
	void attempt(RedisLockKeys keys, OwnerId owner, Duration lease, OptionalLong score, Deadline deadline,
			ScriptOperation<?> operation) {
		byte[][] arguments = { RedisLayout.bytes(owner.text()), ScriptCall.millis(lease), this.label, this.process,
				RedisLayout.bytes(score.isPresent() ? Long.toString(score.getAsLong()) : "") };
		this.executor.run(
				new ScriptCall(Script.ATTEMPT, new byte[][] { keys.lock(), keys.lastOrder(), keys.queue() }, arguments),
				CallKind.ACQUIRE, deadline, operation);
	}

	/**
	 * Releases a lock, if the owner still holds it, to the first process in the queue.
	 */
	StoreCall<ReleaseOutcome> release(RedisLockKeys keys, OwnerId owner, Duration timeout) {
		return run(Script.RELEASE, keys, RedisLayout.bytes(owner.text()), timeout, NOTHING);
	}

	/**
	 * Removes this process from the wait queue, and its reservation of the lock.
	 * @param onEnd receives the outcome before the call has it; must not block
	 */
	StoreCall<ReleaseOutcome> withdraw(RedisLockKeys keys, Duration timeout, Consumer<ReleaseOutcome> onEnd) {
		return run(Script.WITHDRAW, keys, new byte[0], timeout, onEnd);
	}

	/**
	 * Reports that the server denied a step of waiting or of waking up.
	 * @param error the name of the command and the server's error, or an empty text
	 */
	void reportDenied(String error) {
		this.denied.report(error);
	}

	/** Withdraws in the background a reservation for which no contender waits. */
	void withdrawInBackground(RedisLockKeys keys) {
		this.reservations.runNow(() -> withdraw(keys, ReservationMonitor.STEP_TIMEOUT, NOTHING));
	}

	private StoreCall<ReleaseOutcome> expireReservation(RedisLockKeys keys) {
		return run(Script.EXPIRE_RESERVATION, keys, new byte[0], ReservationMonitor.STEP_TIMEOUT, NOTHING);
	}

	private StoreCall<ReleaseOutcome> run(Script script, RedisLockKeys keys, byte[] owner, Duration timeout,
			Consumer<ReleaseOutcome> onEnd) {
		Release release = new Release(keys, onEnd);
		this.executor.run(
				new ScriptCall(script, new byte[][] { keys.lock(), keys.queue() },
						new byte[][] { owner, this.process, this.channelPrefix }),
				CallKind.RELEASE, Deadline.after(timeout), release);
		return release.call();
	}

	/** A release, a withdrawal, or the end of a reservation. */
	private final class Release extends ScriptOperation<ReleaseOutcome> {

		private final RedisLockKeys keys;

		private final Consumer<ReleaseOutcome> onEnd;

		private Release(RedisLockKeys keys, Consumer<ReleaseOutcome> onEnd) {
			this.keys = keys;
			this.onEnd = onEnd;
		}

		@Override
		void onReply(ScriptReply reply) {
			if (reply.values().size() > 1 && reply.number(1) == 1) {
				RedisLockRepository.this.reservations.runAfterReservation(this.keys.name(),
						() -> expireReservation(this.keys));
			}
			if (reply.values().size() > 2) {
				reportDenied(new String(reply.bytes(2), StandardCharsets.UTF_8));
			}
			if (reply.resent()) {
				end(ReleaseOutcome.UNKNOWN);
			}
			else {
				end((reply.number(0) == 1) ? ReleaseOutcome.RELEASED : ReleaseOutcome.NOT_HELD);
			}
		}

		@Override
		void onFailure(LockProviderException failure) {
			logger.debug("Whether '" + this.keys.name() + "' was released is unknown", failure);
			end(ReleaseOutcome.UNKNOWN);
		}

		private void end(ReleaseOutcome outcome) {
			this.onEnd.accept(outcome);
			call().complete(outcome);
		}

	}

}
