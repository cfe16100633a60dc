package io.distributedlock.redis;

import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import redis.clients.jedis.Jedis;

/**
 * What the server has run since the last look: what clients sent, and what scripts
 * called.
 */
final class CommandStats {

	private static final Pattern LINE = Pattern.compile("cmdstat_([^:]+):calls=(\\d+)");

	private final Jedis admin;

	CommandStats(Jedis admin) {
		this.admin = admin;
	}

	void reset() {
		this.admin.configResetStat();
	}

	/** The calls by the names of their commands, without those of the tests' own. */
	Map<String, Long> calls() {
		Map<String, Long> calls = new TreeMap<>();
		Matcher matcher = LINE.matcher(this.admin.info("commandstats"));
		while (matcher.find()) {
			calls.put(matcher.group(1), Long.valueOf(matcher.group(2)));
		}
		calls.keySet().removeIf((name) -> name.startsWith("config") || name.equals("info"));
		return calls;
	}

	/** How many commands clients sent: none of theirs is called by a script. */
	static long ofClients(Map<String, Long> calls) {
		return calls.entrySet()
			.stream()
			.filter((entry) -> entry.getKey().startsWith("eval") || entry.getKey().contains("subscribe"))
			.mapToLong(Map.Entry::getValue)
			.sum();
	}

}
