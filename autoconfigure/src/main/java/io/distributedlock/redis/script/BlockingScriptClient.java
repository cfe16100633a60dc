package io.distributedlock.redis.script;

import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;

import io.distributedlock.provider.Deadline;

/** Runs scripts on a connection and blocks until the replies. */
@FunctionalInterface
public interface BlockingScriptClient {

	/**
	 * Runs scripts for one {@linkplain #node node}, together where the client allows it.
	 * @param caller asked before each command, once its connection is there
	 * @return the outcomes in the order of the calls
	 * @throws RuntimeException if the connection fails
	 */
	List<ScriptOutcome> run(RedisConnection connection, List<ScriptCall> calls, Deadline deadline, SendGuard caller);

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
	 * Runs scripts through Spring Data's interface, with any client: it may send a
	 * command again whose reply is lost, as most do, and does not tell.
	 * @param type that with which the client returns a reply of several values and of one
	 */
	static List<ScriptOutcome> runBySpring(RedisConnection connection, List<ScriptCall> calls, SendGuard caller,
			boolean replicated, ReturnType type) {
		return calls.stream().map((call) -> {
			try {
				Object reply = replyBySpring(connection, call, caller, type);
				return ScriptOutcome.of(new ScriptReply(ScriptReply.values(reply), replicated, false, true));
			}
			catch (RuntimeException ex) {
				return ScriptOutcome.of(ex);
			}
		}).toList();
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
