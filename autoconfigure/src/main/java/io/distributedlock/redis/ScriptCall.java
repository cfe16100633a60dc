package io.distributedlock.redis;

/**
 * One run of a script.
 *
 * @param script the script
 * @param keys its keys, all of one slot in a cluster
 * @param arguments its arguments
 * @param replicated whether the replicas that the settings ask for have to have it
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ScriptCall(Script script, byte[][] keys, byte[][] arguments, boolean replicated) {

	byte[][] keysAndArguments() {
		byte[][] all = new byte[this.keys.length + this.arguments.length][];
		System.arraycopy(this.keys, 0, all, 0, this.keys.length);
		System.arraycopy(this.arguments, 0, all, this.keys.length, this.arguments.length);
		return all;
	}

}
