package io.distributedlock.redis.script;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;

import io.distributedlock.provider.Deadline;

/** Runs a script on a connection and blocks until the reply. */
@FunctionalInterface
public interface BlockingScriptClient {

	/**
	 * Runs a script.
	 * @param caller asked before each command, once its connection is there
	 */
	ScriptReply run(RedisConnection connection, ScriptCall call, Deadline deadline, SendGuard caller);

	/**
	 * Runs scripts for one {@linkplain #node node}, together where the client allows it.
	 * @param caller asked before each command, once its connection is there
	 * @return the outcomes in the order of the calls
	 * @throws RuntimeException if the connection fails
	 */
	default List<ScriptOutcome> runAll(RedisConnection connection, List<ScriptCall> calls, Deadline deadline,
			SendGuard caller) {
		// An early reply to one script would end the call for all.
		@SuppressWarnings("UnnecessaryMethodReference")
		SendGuard callerOfEach = caller::beginSend;
		List<ScriptOutcome> outcomes = new ArrayList<>(calls.size());
		for (ScriptCall call : calls) {
			try {
				outcomes.add(deadline.isPast() ? ScriptOutcome.of(RedisErrors.notCalledInTime())
						: ScriptOutcome.of(run(connection, call, deadline, callerOfEach)));
			}
			catch (RuntimeException ex) {
				outcomes.add(ScriptOutcome.of(ex));
			}
		}
		return outcomes;
	}

	/**
	 * Returns the slot of a key in a cluster.
	 * @return the slot, 0 if the client does not know of a cluster
	 */
	default int slot(byte[] key) {
		return 0;
	}

	/**
	 * Identifies the master of a slot of a cluster.
	 * @return the node, or {@code null} if it is not known or the only one
	 */
	default @Nullable Object node(int slot) {
		return null;
	}

	/**
	 * Identifies the calls that leave a worker for others: those to the master of a slot,
	 * or those to the slot while its master is not known.
	 * @return what they have in common, or {@code null} if there are no others
	 */
	default @Nullable Object workerGroup(int slot) {
		return null;
	}

	/**
	 * Runs a script through Spring Data's interface, with any client: it may send a
	 * command again whose reply is lost, as most do, and does not tell.
	 * @param type that with which the client returns a reply of several values and of one
	 */
	static ScriptReply runBySpring(RedisConnection connection, ScriptCall call, SendGuard caller, boolean replicated,
			ReturnType type) {
		return new ScriptReply(ScriptReply.values(replyBySpring(connection, call, caller, type)), replicated, false,
				true);
	}

	private static Object replyBySpring(RedisConnection connection, ScriptCall call, SendGuard caller,
			ReturnType type) {
		byte[][] keysAndArguments = call.keysAndArguments();
		caller.beginSend();
		try {
			return Objects.requireNonNull(connection.scriptingCommands()
				.<Object>evalSha(call.script().digest(), type, call.keys().length, keysAndArguments));
		}
		catch (RuntimeException ex) {
			if (!RedisErrors.isUnknownScript(ex)) {
				throw ex;
			}
			caller.beginSend();
			return Objects.requireNonNull(connection.scriptingCommands()
				.<Object>eval(call.script().text(), type, call.keys().length, keysAndArguments));
		}
	}

}
