package io.distributedlock.redis.check;

import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.redis.script.RedisErrors;
import io.distributedlock.redis.script.ScriptReply;

/**
 * What a server replied about itself.
 *
 * @param micros the server's time in microseconds since 1970
 * @param text the sections of INFO that the user may read
 */
public record ServerInfo(long micros, String text) {

	private static final Log logger = LogFactory.getLog(ServerInfo.class);

	private static final Pattern VERSION = Pattern.compile("redis_version:(\\d+)\\.(\\d+)");

	private static final Pattern POLICY = Pattern.compile("maxmemory_policy:(\\S+)");

	private static final Pattern RUN_ID = Pattern.compile("run_id:(\\S+)");

	private static final Pattern PORT = Pattern.compile("tcp_port:(\\d+)");

	public static final Pattern UPTIME = Pattern.compile("uptime_in_seconds:(-?\\d+)");

	/** As KeyDB says it of a server that also takes over the writes of others. */
	private static final Pattern ACTIVE_REPLICA = Pattern.compile("role:active-replica\\b");

	/** Reads the reply of a script from two neighbouring values. */
	public static ServerInfo of(ScriptReply reply, int first) {
		return new ServerInfo(reply.number(first), new String(reply.bytes(first + 1), StandardCharsets.UTF_8));
	}

	/**
	 * Requires a clock, a version and a role that suit locks.
	 * @param server the beginning of a message, which names the server
	 * @throws LockProviderException if the clock is out of range
	 * @throws LockConfigurationException if the server is too old, or one of several that
	 * accept writes for the same keys
	 */
	public void requireSuitable(String server) {
		if (this.micros <= 0 || this.micros > FencingToken.MAX_ORDER) {
			throw new LockProviderException(LockError.STORE_FAILED, RedisErrors.PROVIDER,
					"has a clock that is out of the range of fencing tokens: " + this.micros + " µs since 1970. "
							+ server + " needs the right time",
					null);
		}
		if (ACTIVE_REPLICA.matcher(this.text).find()) {
			throw new LockConfigurationException(LockError.STORE_UNSUITABLE,
					server + " is an active replica of KeyDB (INFO says role:active-replica): several servers accept "
							+ "writes for the same keys, so that two of them can grant one lock",
					"Set active-replica no, or connect to a server that alone accepts writes, or keep the locks in "
							+ "another store by distributed-lock.provider");
		}
		Matcher version = VERSION.matcher(this.text);
		if (!version.find()) {
			logger.debug("The version of the Redis server is unknown");
			return;
		}
		int major = Integer.parseInt(version.group(1));
		int minor = Integer.parseInt(version.group(2));
		if (major < 6 || (major == 6 && minor < 2)) {
			throw new LockConfigurationException(LockError.STORE_TOO_OLD,
					server + " has version " + major + "." + minor + ", but locks need 6.2 or later",
					"Upgrade the server, or keep the locks in another store by distributed-lock.provider");
		}
	}

	/**
	 * Requires what {@link #requireSuitable(String)} does, and all commands. The options
	 * of an old server's commands are not told, since it is too old.
	 * @param server the beginning of a message, which names the server
	 * @param check the reply of {@code check.lua}
	 */
	void requireSuitable(String server, ScriptReply check) {
		String command = new String(check.bytes(0), StandardCharsets.UTF_8);
		String error = new String(check.bytes(1), StandardCharsets.UTF_8).strip();
		boolean options = error.contains("syntax error");
		if (command.isEmpty() || options) {
			requireSuitable(server);
		}
		if (!command.isEmpty()) {
			throw new LockConfigurationException(options ? LockError.STORE_UNSUITABLE : LockError.NOT_PERMITTED,
					server + " refuses the command " + command + ", which locks need: " + error,
					options ? "Use Redis 6.2 or later, or a server that has all its options of " + command
							: "Permit " + command + " for the user of the locks, or keep them in another store by "
									+ "distributed-lock.provider");
		}
	}

	/**
	 * Warns of a server that evicts keys.
	 * @param server the beginning of the message, which names the server
	 */
	public void warnOfEviction(String server) {
		String policy = find(POLICY);
		if (policy != null && !policy.equals("noeviction")) {
			logger.warn(server + " evicts keys when its memory is full (maxmemory-policy is '" + policy
					+ "'): after the eviction of a lock it can have two holders. Set the policy to 'noeviction'");
		}
	}

	/** The random id of the server's process, or {@code null} if it is not known. */
	public @Nullable String runId() {
		return find(RUN_ID);
	}

	/** The port of the server, or {@code null} if it is not known. */
	@Nullable String port() {
		return find(PORT);
	}

	public @Nullable String find(Pattern pattern) {
		Matcher matcher = pattern.matcher(this.text);
		return matcher.find() ? matcher.group(1) : null;
	}

}
