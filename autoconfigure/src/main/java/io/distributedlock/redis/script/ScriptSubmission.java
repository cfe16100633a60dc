package io.distributedlock.redis.script;

/**
 * One of several scripts that are run together.
 *
 * @param call the script
 * @param operation what follows its reply
 */
public record ScriptSubmission(ScriptCall call, ReplyHandler<?> operation) {
}
