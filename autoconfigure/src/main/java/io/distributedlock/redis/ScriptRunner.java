package io.distributedlock.redis;

import java.util.List;
import java.util.Objects;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;

import io.distributedlock.redis.ScriptClient.Answer;

/** Runs a script on a connection and blocks until it has answered. */
@FunctionalInterface
interface ScriptRunner {

	Answer run(RedisConnection connection, ScriptCall call, long deadline);

	/** Runs it by Spring's own interface, whatever client there is below. */
	static List<?> bySpring(RedisConnection connection, ScriptCall call) {
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
