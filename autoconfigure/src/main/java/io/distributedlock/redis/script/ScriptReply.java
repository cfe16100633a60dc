package io.distributedlock.redis.script;

import java.util.List;

/**
 * The reply of the server to one run of a script.
 *
 * @param values the values that the script returned: {@code Long} or {@code byte[]}
 * @param replicated whether as many replicas as required acknowledged the writes; also
 * {@code true} where none are required
 * @param resent whether the client may have sent the command more than once
 * @param resentUnseen whether the client sends commands again without telling, so that
 * one that found nothing to do may have done it before
 */
public record ScriptReply(List<?> values, boolean replicated, boolean resent, boolean resentUnseen) {

	/** Creates the reply to a command that was sent once. */
	public ScriptReply(List<?> values, boolean replicated) {
		this(values, replicated, false, false);
	}

	/** Returns the values of a reply, which is a list of them or one alone. */
	public static List<?> values(Object reply) {
		return (reply instanceof List<?> values) ? values : List.of(reply);
	}

	public ScriptReply withResent(boolean resent) {
		return new ScriptReply(this.values, this.replicated, resent, this.resentUnseen);
	}

	/** Reads a number; 0 where the value is none. */
	public long number(int index) {
		return (this.values.get(index) instanceof Long number) ? number : 0;
	}

	/** Reads a text; empty where the value is none. */
	public byte[] bytes(int index) {
		return (this.values.get(index) instanceof byte[] bytes) ? bytes : new byte[0];
	}

}
