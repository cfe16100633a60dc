package io.distributedlock.redis.check;

import java.util.function.Consumer;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.Script;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptReply;

/**
 * One script of the check of the servers.
 *
 * @param script the script
 * @param onReply handles the reply; throws a {@code LockException} if the check fails
 * @param onFailure handles the failure of the run; throws it unless the check goes on
 * without a reply
 */
public record CheckScript(ScriptCall script, Consumer<ScriptReply> onReply, Consumer<LockProviderException> onFailure) {

	/**
	 * Creates the step that asks one server whether it can keep locks.
	 * @param server the beginning of a message, which names the server
	 * @param keys a key that does not exist, and for one server of all that of the format
	 * @param onReply handles the reply of {@code check.lua}
	 */
	static CheckScript ofServer(String server, byte[][] keys, Consumer<ScriptReply> onReply) {
		ScriptCall call = new ScriptCall(Script.CHECK, keys,
				new byte[][] { RedisLayout.bytes(RedisLayout.FORMAT.text()) });
		return new CheckScript(call, onReply, (failure) -> {
			throw (failure.error() == LockError.STORE_UNSUITABLE) ? new LockConfigurationException(failure.error(),
					server + ", or a proxy before it, cannot keep locks",
					"Change its settings as its message says, or keep the locks in another store by "
							+ "distributed-lock.provider",
					failure) : failure;
		});
	}

	/** Creates a step without which the check fails. */
	public CheckScript(ScriptCall script, Consumer<ScriptReply> onReply) {
		this(script, onReply, (failure) -> {
			throw failure;
		});
	}

}
