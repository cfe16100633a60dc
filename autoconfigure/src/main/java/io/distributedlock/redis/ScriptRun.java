package io.distributedlock.redis;

/**
 * One of several scripts that are run together.
 *
 * @param call the script
 * @param operation what follows its reply
 */
record ScriptRun(ScriptCall call, ScriptOperation<?> operation) {
}
