package io.distributedlock.redis.script;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One run of a script.
 *
 * @param script the script
 * @param keys the keys, all in one slot of a cluster
 * @param arguments the arguments
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ScriptCall(Script script, byte[][] keys, byte[][] arguments) {

	/**
	 * Creates a call that changes nothing: it deletes a key that does not exist. No
	 * client sends it to a replica, and a replica refuses it.
	 * @param key a key in the slot of the call
	 */
	public static ScriptCall probe(byte[] key) {
		String text = new String(key, StandardCharsets.UTF_8);
		byte[] none = RedisLayout.bytes(text.substring(0, text.indexOf('}') + 1) + ":none");
		return new ScriptCall(Script.PROBE, new byte[][] { none }, new byte[0][]);
	}

	/** The argument for a lease: whole milliseconds, rounded up. */
	public static byte[] millis(Duration lease) {
		long nanos = lease.toNanos();
		long millis = TimeUnit.NANOSECONDS.toMillis(nanos);
		return RedisLayout.bytes(Long.toString((TimeUnit.MILLISECONDS.toNanos(millis) == nanos) ? millis : millis + 1));
	}

	public byte[][] keysAndArguments() {
		byte[][] all = new byte[this.keys.length + this.arguments.length][];
		System.arraycopy(this.keys, 0, all, 0, this.keys.length);
		System.arraycopy(this.arguments, 0, all, this.keys.length, this.arguments.length);
		return all;
	}

	/** Whether replicas have to acknowledge the call: it grants or renews. */
	public boolean needsReplicas() {
		return isAttempt() || this.script == Script.RENEW;
	}

	private boolean isAttempt() {
		return this.script == Script.ATTEMPT || this.script == Script.ATTEMPT_SHARE;
	}

	/** Whether, by this reply, the call granted a lock or may have renewed one. */
	public boolean hasGrantedOrRenewed(List<?> reply) {
		return this.script == Script.RENEW || (isAttempt() && !Long.valueOf(Script.NOT_GRANTED).equals(reply.get(0)));
	}

}
