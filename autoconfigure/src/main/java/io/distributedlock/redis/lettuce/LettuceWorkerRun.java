package io.distributedlock.redis.lettuce;

import java.util.function.Consumer;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptOutcome;
import io.distributedlock.redis.script.ScriptReply;
import io.distributedlock.redis.script.SendGuard;

/**
 * A run of a script that needs a worker. Compared by identity.
 */
final class LettuceWorkerRun implements SendGuard {

	private final ScriptCall call;

	private final CallKind kind;

	private final Deadline deadline;

	private final SendGuard check;

	private final Consumer<ScriptOutcome> onEnd;

	/** Used by the one thread that has the run. */
	private boolean ended;

	/**
	 * Creates a run.
	 * @param check asked before each command, once its connection is there
	 * @param onEnd receives the outcome, once
	 */
	LettuceWorkerRun(ScriptCall call, CallKind kind, Deadline deadline, SendGuard check,
			Consumer<ScriptOutcome> onEnd) {
		this.call = call;
		this.kind = kind;
		this.deadline = deadline;
		this.check = check;
		this.onEnd = onEnd;
	}

	ScriptCall call() {
		return this.call;
	}

	CallKind kind() {
		return this.kind;
	}

	Deadline deadline() {
		return this.deadline;
	}

	@Override
	public void beginSend() {
		this.check.beginSend();
	}

	@Override
	public void onEarlyReply(ScriptReply reply) {
		end(ScriptOutcome.of(reply));
	}

	/** Ends the run, unless it has ended with an earlier reply. */
	void end(ScriptOutcome outcome) {
		if (!this.ended) {
			this.ended = true;
			this.onEnd.accept(outcome);
		}
	}

}
