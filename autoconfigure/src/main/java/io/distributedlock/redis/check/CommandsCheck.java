package io.distributedlock.redis.check;

import java.nio.charset.StandardCharsets;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.Script;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptReply;

/**
 * The question whether one server runs the commands that locks need: each node of a
 * cluster has users of its own. Asked first of all, since an error inside another script
 * need not name its command. Safe for use by many threads.
 */
final class CommandsCheck {

	private final String server;

	private final byte[] noKey;

	private volatile boolean done;

	/** A command whose options the server does not know, if it is not too old. */
	private volatile @Nullable LockConfigurationException unknownOptions;

	/**
	 * Creates a check that has not begun.
	 * @param server the beginning of a message, which names the server
	 * @param noKey a key of the server that never exists
	 */
	CommandsCheck(String server, String noKey) {
		this.server = server;
		this.noKey = RedisLayout.bytes(noKey);
	}

	/** Whether the server accepts the commands. */
	boolean isDone() {
		return this.done;
	}

	/**
	 * Returns the script that asks.
	 * @param needed whether the server still has to be asked
	 */
	CheckScript step(BooleanSupplier needed) {
		return new CheckScript(new ScriptCall(Script.COMMANDS, new byte[][] { this.noKey }, new byte[0][]),
				() -> !this.done && needed.getAsBoolean(), this::record, (failure) -> {
					throw refusal(failure);
				});
	}

	private RuntimeException refusal(LockProviderException failure) {
		return (failure.error() == LockError.STORE_UNSUITABLE) ? new LockConfigurationException(failure.error(),
				this.server + ", or a proxy before it, cannot keep locks",
				"Change its settings as its message says, or keep the locks in another store by "
						+ "distributed-lock.provider",
				failure) : failure;
	}

	private void record(ScriptReply reply) {
		if (!reply.values().isEmpty()) {
			String command = new String(reply.bytes(0), StandardCharsets.UTF_8);
			String error = new String(reply.bytes(1), StandardCharsets.UTF_8).strip();
			boolean options = error.contains("syntax error");
			LockConfigurationException refusal = new LockConfigurationException(
					options ? LockError.STORE_UNSUITABLE : LockError.NOT_PERMITTED,
					this.server + " refuses the command " + command + ", which locks need: " + error,
					options ? "Use Redis 6.2 or later, or a server that has all its options of " + command
							: "Permit " + command + " for the user of the locks, or keep them in another store by "
									+ "distributed-lock.provider");
			if (!options) {
				throw refusal;
			}
			this.unknownOptions = refusal;
		}
		this.done = true;
	}

	/**
	 * Requires the options of the commands, once the version is known to suffice.
	 * @throws LockConfigurationException if the server does not know them
	 */
	void requireOptions() {
		LockConfigurationException unknown = this.unknownOptions;
		if (unknown != null) {
			throw unknown;
		}
	}

}
