package io.distributedlock.redis.check;

import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import io.distributedlock.LockProviderException;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptReply;

/**
 * One script of the check of the servers.
 *
 * @param script the script
 * @param needed whether the script still has to run: another run may have done the step
 * @param onReply handles the reply; throws a {@code LockException} if the check fails
 * @param onFailure handles the failure of the run; throws it unless the check goes on
 * without a reply
 */
public record CheckScript(ScriptCall script, BooleanSupplier needed, Consumer<ScriptReply> onReply,
		Consumer<LockProviderException> onFailure) {

	/** Creates a step without which the check fails. */
	public CheckScript(ScriptCall script, BooleanSupplier needed, Consumer<ScriptReply> onReply) {
		this(script, needed, onReply, (failure) -> {
			throw failure;
		});
	}

}
