package io.distributedlock.redis.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.ReplyHandler;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptExecutor;

/**
 * The wait of attempts for the check of the servers: none is sent before. They wait for
 * one check together, or with a client that blocks each makes the check itself. Releases
 * and renewals need no check.
 */
public final class AttemptGate {

	private final ScriptExecutor executor;

	private final StartCheck check;

	/** The checks that are under way, by slot; at most one per bucket. */
	private final Map<Integer, SharedCheck> checks = new ConcurrentHashMap<>();

	public AttemptGate(ScriptExecutor executor, StartCheck check) {
		this.executor = executor;
		this.check = check;
	}

	/** Whether an attempt needs no check any more. */
	public boolean isOpenFor(ScriptCall attempt) {
		return this.check.isPassed(attempt);
	}

	/** Runs an attempt once the servers were checked. */
	public void runAfterCheck(ScriptCall call, Deadline deadline, ReplyHandler<?> operation) {
		operation.recordQueued();
		UncheckedAttempt attempt = new UncheckedAttempt(call, deadline, operation);
		if (this.executor.isBlocking()) {
			end(attempt, failure(this.check.begin(this.check.slot(call), deadline)), true);
		}
		else {
			join(attempt);
		}
	}

	private void join(UncheckedAttempt attempt) {
		int slot = this.check.slot(attempt.call);
		SharedCheck shared = this.checks.get(slot);
		while (shared == null || !shared.add(attempt)) {
			SharedCheck created = new SharedCheck(slot, attempt);
			shared = this.checks.putIfAbsent(slot, created);
			if (shared == null) {
				created.begin();
				return;
			}
		}
	}

	/**
	 * Sends an attempt after a check that succeeded.
	 * @param began whether the attempt has begun the check, whose time is its own
	 */
	private void end(UncheckedAttempt attempt, @Nullable RuntimeException failure, boolean began) {
		if (failure == null) {
			this.executor.run(attempt.call, CallKind.ACQUIRE, attempt.deadline, attempt.operation);
		}
		else if (!(failure instanceof LockProviderException known)) {
			attempt.operation.call().fail(failure);
		}
		else if (!began && known.error() == LockError.STORE_TIMEOUT && !attempt.deadline.isPast()) {
			join(attempt);
		}
		else {
			attempt.operation.fail(known.isEffectUnknown() ? LockProviderException.nothingSent(known.error(),
					known.provider(), known.problem(), known.getCause()) : known);
		}
	}

	private static @Nullable RuntimeException failure(StoreCall<Boolean> check) {
		try {
			check.result();
			return null;
		}
		catch (RuntimeException ex) {
			return ex;
		}
	}

	/** A check for which attempts wait. The first one has begun it. */
	private final class SharedCheck {

		private final Integer slot;

		private final UncheckedAttempt first;

		/** Guarded by the monitor; {@code null} after the end. */
		private @Nullable List<UncheckedAttempt> others = new ArrayList<>();

		private SharedCheck(Integer slot, UncheckedAttempt first) {
			this.slot = slot;
			this.first = first;
		}

		private void begin() {
			try {
				StoreCall<Boolean> begun = AttemptGate.this.check.begin(this.slot, this.first.deadline);
				begun.onDone(() -> end(failure(begun)));
			}
			catch (RuntimeException | Error ex) {
				end(RedisErrors.notCalled(ex));
				throw ex;
			}
		}

		/** Adds an attempt; returns whether the check has not ended. */
		private synchronized boolean add(UncheckedAttempt attempt) {
			return this.others != null && this.others.add(attempt);
		}

		private synchronized List<UncheckedAttempt> removeOthers() {
			List<UncheckedAttempt> all = (this.others != null) ? this.others : List.of();
			this.others = null;
			return all;
		}

		private void end(@Nullable RuntimeException failure) {
			AttemptGate.this.checks.remove(this.slot, this);
			List<UncheckedAttempt> waiting = removeOthers();
			AttemptGate.this.end(this.first, failure, true);
			waiting.forEach((attempt) -> AttemptGate.this.end(attempt, failure, false));
		}

	}

	/** An attempt that is sent after the check. */
	private record UncheckedAttempt(ScriptCall call, Deadline deadline, ReplyHandler<?> operation) {
	}

}
