package io.distributedlock.redis;

import java.util.List;

/**
 * One run of a script.
 *
 * @param script the script
 * @param keys its keys, all of one slot in a cluster
 * @param arguments its arguments
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ScriptCall(Script script, byte[][] keys, byte[][] arguments) {

	byte[][] keysAndArguments() {
		byte[][] all = new byte[this.keys.length + this.arguments.length][];
		System.arraycopy(this.keys, 0, all, 0, this.keys.length);
		System.arraycopy(this.arguments, 0, all, this.keys.length, this.arguments.length);
		return all;
	}

	/** Whether the replicas matter to it: it grants or prolongs. */
	boolean prolongs() {
		return this.script == Script.ATTEMPT || this.script == Script.RENEW;
	}

	/** Whether, by this answer, it has granted or may have prolonged something. */
	boolean hasProlonged(List<?> answer) {
		return this.script == Script.RENEW
				|| (this.script == Script.ATTEMPT && !Long.valueOf(AttemptReply.BUSY).equals(answer.get(0)));
	}

}
