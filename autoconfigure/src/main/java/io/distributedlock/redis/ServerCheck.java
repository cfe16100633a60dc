package io.distributedlock.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.FencingToken;
import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.StoreCall;

/**
 * The check of a server at the start of the application: format, clock, version, and
 * eviction of keys.
 */
final class ServerCheck {

	private static final Log logger = LogFactory.getLog(ServerCheck.class);

	private static final Pattern VERSION = Pattern.compile("redis_version:(\\d+)\\.(\\d+)");

	private static final Pattern POLICY = Pattern.compile("maxmemory_policy:(\\S+)");

	private ServerCheck() {
	}

	/**
	 * Checks the server. A read-only replica refuses the write of the format.
	 * @throws LockProviderException if the server does not reply or refuses writes
	 * @throws LockConfigurationException if the server cannot keep locks
	 */
	static void check(ScriptExecutor executor, RedisLayout layout, Duration timeout) {
		ScriptReply reply = run(executor, new ScriptCall(Script.CHECK, new byte[][] { layout.format() },
				new byte[][] { RedisLayout.bytes(RedisLayout.FORMAT.text()) }), Deadline.after(timeout));
		RedisLayout.FORMAT.requireSupported("Redis", new String(reply.bytes(0), StandardCharsets.UTF_8));
		long clock = reply.number(1);
		if (clock <= 0 || clock > FencingToken.MAX_ORDER) {
			throw new LockProviderException(LockError.STORE_FAILED, RedisErrors.PROVIDER,
					"has a clock that is out of the range of fencing tokens: " + clock + " µs since 1970", null);
		}
		String info = new String(reply.bytes(2), StandardCharsets.UTF_8);
		checkVersion(info);
		checkPolicy(info);
	}

	/** Runs a script and waits for its reply. */
	private static ScriptReply run(ScriptExecutor executor, ScriptCall script, Deadline deadline) {
		Operation operation = new Operation();
		executor.run(script, CallKind.ACQUIRE, deadline, operation);
		StoreCall<ScriptReply> call = operation.call();
		CountDownLatch done = new CountDownLatch(1);
		call.onDone(done::countDown);
		LockProviderException failure;
		try {
			deadline.await(CallKind.ACQUIRE, (nanos) -> done.await(nanos, TimeUnit.NANOSECONDS));
			failure = RedisErrors.timedOut(new TimeoutException("No reply in time"));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			failure = RedisErrors.interrupted(ex);
		}
		call.abandon();
		if (!call.isDone()) {
			throw failure;
		}
		return call.result();
	}

	static void checkVersion(String info) {
		Matcher version = VERSION.matcher(info);
		if (!version.find()) {
			logger.debug("The version of the Redis server is unknown");
			return;
		}
		int major = Integer.parseInt(version.group(1));
		int minor = Integer.parseInt(version.group(2));
		if (major < 6 || (major == 6 && minor < 2)) {
			throw new LockConfigurationException(LockError.STORE_TOO_OLD,
					"The Redis server has version " + major + "." + minor + ", but locks need 6.2 or later",
					"Upgrade the server, or keep the locks in another store by distributed-lock.provider");
		}
	}

	static void checkPolicy(String info) {
		Matcher policy = POLICY.matcher(info);
		if (policy.find() && !policy.group(1).equals("noeviction")) {
			logger.warn("The Redis server evicts keys when its memory is full (maxmemory-policy is '" + policy.group(1)
					+ "'): after the eviction of a lock it can have two holders. Set the policy to 'noeviction'");
		}
	}

	/** The run of the script, whose reply is the result. */
	private static final class Operation extends ScriptOperation<ScriptReply> {

		@Override
		void onReply(ScriptReply reply) {
			call().complete(reply);
		}

		@Override
		void onFailure(LockProviderException failure) {
			call().fail(failure);
		}

	}

}
