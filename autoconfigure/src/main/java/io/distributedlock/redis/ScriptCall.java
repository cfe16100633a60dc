package io.distributedlock.redis;

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
record ScriptCall(Script script, byte[][] keys, byte[][] arguments) {

	/**
	 * Creates a call that changes nothing: a renewal for an owner that no lock has.
	 * Unlike a command that reads, no client sends it to a replica.
	 */
	static ScriptCall probe(byte[] key) {
		return new ScriptCall(Script.RENEW, new byte[][] { key }, new byte[][] { new byte[0], RedisLayout.bytes("1") });
	}

	/** The argument for a lease: whole milliseconds, rounded up. */
	static byte[] millis(Duration lease) {
		long nanos = lease.toNanos();
		long millis = TimeUnit.NANOSECONDS.toMillis(nanos);
		return RedisLayout.bytes(Long.toString((TimeUnit.MILLISECONDS.toNanos(millis) == nanos) ? millis : millis + 1));
	}

	byte[][] keysAndArguments() {
		byte[][] all = new byte[this.keys.length + this.arguments.length][];
		System.arraycopy(this.keys, 0, all, 0, this.keys.length);
		System.arraycopy(this.arguments, 0, all, this.keys.length, this.arguments.length);
		return all;
	}

	/** Whether replicas have to acknowledge the call: it grants or renews. */
	boolean needsReplicas() {
		return this.script == Script.ATTEMPT || this.script == Script.RENEW;
	}

	/** Whether, by this reply, the call granted a lock or may have renewed one. */
	boolean hasGrantedOrRenewed(List<?> reply) {
		return this.script == Script.RENEW
				|| (this.script == Script.ATTEMPT && !Long.valueOf(Script.NOT_GRANTED).equals(reply.get(0)));
	}

}
