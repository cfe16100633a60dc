package io.distributedlock.redis;

import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;

import io.distributedlock.provider.Deadline;

/** Runs a script on a connection and blocks until the reply. */
@FunctionalInterface
interface ScriptRunner {

	ScriptReply run(RedisConnection connection, ScriptCall call, Deadline deadline);

	/**
	 * Identifies the node of a cluster to which a call goes.
	 * @param call the call
	 * @return the node, or {@code null} if it is not known or the only one
	 */
	default @Nullable Object node(ScriptCall call) {
		return null;
	}

	/** Runs a script through Spring Data's interface, with any client. */
	static List<?> runBySpring(RedisConnection connection, ScriptCall call) {
		byte[][] keysAndArguments = call.keysAndArguments();
		try {
			return Objects.requireNonNull(connection.scriptingCommands()
				.<List<?>>evalSha(call.script().digest(), ReturnType.MULTI, call.keys().length, keysAndArguments));
		}
		catch (RuntimeException ex) {
			if (!RedisErrors.isUnknownScript(ex)) {
				throw ex;
			}
			return Objects.requireNonNull(connection.scriptingCommands()
				.<List<?>>eval(call.script().text(), ReturnType.MULTI, call.keys().length, keysAndArguments));
		}
	}

}
