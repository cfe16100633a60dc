package io.distributedlock.redis.lettuce;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.SendGuard;

/**
 * Scripts sent by Lettuce's asynchronous commands, and timed waits for their futures. A
 * future that is not done at its deadline is cancelled, so that Lettuce does not send its
 * command again after a reconnect.
 */
public final class LettuceCommands {

	private static final byte[] NO_TEXT = {};

	private LettuceCommands() {
	}

	/** Sends a script by its digest. */
	public static RedisFuture<List<Object>> send(RedisClusterAsyncCommands<byte[], byte[]> commands, ScriptCall call) {
		return send(commands, CommandType.EVALSHA, call.script().encodedDigest(), call);
	}

	/** Sends the text of a script, for a server that does not know it by its digest. */
	public static RedisFuture<List<Object>> sendText(RedisClusterAsyncCommands<byte[], byte[]> commands,
			ScriptCall call) {
		return send(commands, CommandType.EVAL, call.script().text(), call);
	}

	/** In a cluster the command goes to the node of its first key. */
	private static RedisFuture<List<Object>> send(RedisClusterAsyncCommands<byte[], byte[]> commands, CommandType type,
			byte[] script, ScriptCall call) {
		CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE).add(script)
			.add(call.keys().length)
			.addKeys(call.keys());
		for (byte[] argument : call.arguments()) {
			args.add(argument);
		}
		return commands.dispatch(type, new ReplyOutput(), args);
	}

	/**
	 * Runs a script in the current thread, a worker, which waits for the reply.
	 * @param check asked before each command
	 */
	static List<Object> run(RedisClusterAsyncCommands<byte[], byte[]> commands, ScriptCall call, CallKind kind,
			Deadline deadline, SendGuard check) throws InterruptedException, TimeoutException {
		check.beginSend();
		try {
			return await(send(commands, call), kind, deadline);
		}
		catch (RuntimeException ex) {
			if (!RedisErrors.isUnknownScript(ex)) {
				throw ex;
			}
			check.beginSend();
			return await(sendText(commands, call), kind, deadline);
		}
	}

	/** Awaits a future; an interrupt ends the wait only where the kind allows it. */
	static <T> T await(Future<T> future, CallKind kind, Deadline deadline)
			throws InterruptedException, TimeoutException {
		try {
			return deadline.await(kind, (nanos) -> get(future, nanos));
		}
		catch (InterruptedException | TimeoutException ex) {
			future.cancel(true);
			throw ex;
		}
	}

	private static <T> T get(Future<T> future, long nanos) throws InterruptedException, TimeoutException {
		try {
			return future.get(Math.max(nanos, 0), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof RuntimeException failure) {
				throw failure;
			}
			throw new IllegalStateException(ex.getCause());
		}
	}

	/** The values of a reply: a list of numbers and texts, or one alone. */
	private static final class ReplyOutput extends CommandOutput<byte[], byte[], List<Object>> {

		private ReplyOutput() {
			super(ByteArrayCodec.INSTANCE, new ArrayList<>(1));
		}

		@Override
		public void set(long integer) {
			get().add(integer);
		}

		@Override
		public void set(@Nullable ByteBuffer bytes) {
			get().add((bytes != null) ? this.codec.decodeValue(bytes) : NO_TEXT);
		}

	}

}
