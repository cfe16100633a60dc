package io.distributedlock.redis;

import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import redis.clients.jedis.Jedis;

/**
 * The commands that the server has run since the last reset, both those that clients sent
 * and those that scripts called.
 */
final class CommandStats {

	private static final Pattern CALLS = Pattern.compile("cmdstat_([^:]+):calls=(\\d+)");

	private final Jedis admin;

	CommandStats(Jedis admin) {
		this.admin = admin;
	}

	void reset() {
		this.admin.configResetStat();
	}

	/** Counts the calls by command, without the commands of the tests. */
	Map<String, Long> calls() {
		Map<String, Long> calls = new TreeMap<>();
		Matcher matcher = CALLS.matcher(this.admin.info("commandstats"));
		while (matcher.find()) {
			calls.put(matcher.group(1), Long.valueOf(matcher.group(2)));
		}
		calls.keySet().removeIf((name) -> name.startsWith("config") || name.equals("info"));
		return calls;
	}

	/** Counts the commands that clients sent: scripts call none of these. */
	static long ofClients(Map<String, Long> calls) {
		return calls.entrySet()
			.stream()
			.filter((entry) -> entry.getKey().startsWith("eval") || entry.getKey().contains("subscribe"))
			.mapToLong(Map.Entry::getValue)
			.sum();
	}

}
