package io.distributedlock.redis.script;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * The end of one of several scripts that were sent together: a reply or a failure.
 *
 * @param reply the reply, or {@code null} after a failure
 * @param failure the failure, or {@code null}
 */
public record ScriptOutcome(@Nullable ScriptReply reply, @Nullable RuntimeException failure) {

	public static ScriptOutcome of(ScriptReply reply) {
		return new ScriptOutcome(reply, null);
	}

	public static ScriptOutcome of(RuntimeException failure) {
		return new ScriptOutcome(null, failure);
	}

	/** Whether the server does not know the script by its digest. */
	public boolean isUnknownScript() {
		return this.failure != null && RedisErrors.isUnknownScript(this.failure);
	}

	/** Whether the server is a replica, which refuses writes. */
	public boolean isReadOnly() {
		return this.failure != null && RedisErrors.isReadOnly(this.failure);
	}

	/** Returns the reply, or throws the failure. */
	public ScriptReply get() {
		if (this.failure != null) {
			throw this.failure;
		}
		return Objects.requireNonNull(this.reply);
	}

}
