package io.distributedlock.redis;

import java.util.function.Consumer;

import io.distributedlock.LockProviderException;

/**
 * One script of the check of the servers.
 *
 * @param script the script
 * @param onReply handles the reply; throws a {@code LockException} if the check fails
 * @param onFailure handles the failure of the run; throws it unless the check goes on
 * without a reply
 */
record CheckStep(ScriptCall script, Consumer<ScriptReply> onReply, Consumer<LockProviderException> onFailure) {

	/** Creates a step without which the check fails. */
	CheckStep(ScriptCall script, Consumer<ScriptReply> onReply) {
		this(script, onReply, (failure) -> {
			throw failure;
		});
	}

}
