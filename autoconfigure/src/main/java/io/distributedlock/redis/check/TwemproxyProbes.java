package io.distributedlock.redis.check;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.Script;
import io.distributedlock.redis.script.ScriptCall;
import io.distributedlock.redis.script.ScriptReply;

/**
 * Probes whether Twemproxy keeps together what it has kept together: the keys of all
 * buckets that were on one server when that was last seen, or before that the keys with
 * one hash tag. A server that has restarted meanwhile is accepted, another one that ran
 * before is not.
 */
final class TwemproxyProbes {

	/**
	 * So many keys are on one of two servers by chance once in two billion probes.
	 */
	static final int KEYS = 32;

	/** What the uptime of a server may be wrong by. */
	private static final int TOLERANCE_SECONDS = 2;

	private final RedisLayout layout;

	private final SameServerProbe[] probes = new SameServerProbe[RedisLayout.BUCKETS];

	/**
	 * Creates probes that have not begun.
	 * @param servers returns the server of a bucket, or {@code null} if it was not seen
	 * @param first the bucket whose keys are looked for on behalf of those whose server
	 * was not seen yet
	 */
	TwemproxyProbes(IntFunction<@Nullable ServerIdentity> servers, RedisLayout layout, int first) {
		this.layout = layout;
		Map<String, List<Integer>> groups = new LinkedHashMap<>();
		Map<String, ServerIdentity> latest = new LinkedHashMap<>();
		for (int bucket = 0; bucket < RedisLayout.BUCKETS; bucket++) {
			ServerIdentity seen = servers.apply(bucket);
			String runId = (seen != null) ? seen.runId() : "";
			groups.computeIfAbsent(runId, (absent) -> new ArrayList<>()).add(bucket);
			if (seen != null) {
				latest.merge(runId, seen, (one, other) -> one.at().isBefore(other.at()) ? other : one);
			}
		}
		groups.forEach((runId, buckets) -> {
			ServerIdentity server = latest.get(runId);
			SameServerProbe probe = probe((server != null) ? buckets : List.of(first), server);
			buckets.forEach((bucket) -> this.probes[bucket] = probe);
		});
	}

	/** Returns the probe for a bucket, the same for those on one server. */
	SameServerProbe of(int bucket) {
		return this.probes[bucket];
	}

	private SameServerProbe probe(List<Integer> buckets, @Nullable ServerIdentity server) {
		return new SameServerProbe(Math.max(KEYS, buckets.size()),
				(number) -> script(buckets.get(number % buckets.size())), (reply) -> runId(reply, server),
				(server != null) ? TwemproxyProbes::moved : TwemproxyProbes::divided);
	}

	/** The end of the key is random: a proxy may choose the server by all of it. */
	private ScriptCall script(int bucket) {
		return new ScriptCall(Script.SERVER,
				new byte[][] { RedisLayout.bytes(this.layout.noKey(bucket) + OwnerId.random().text()) }, new byte[0][]);
	}

	private static String runId(ScriptReply reply, @Nullable ServerIdentity server) {
		ServerInfo info = ServerInfo.of(reply, 0);
		String runId = info.runId();
		if (runId == null) {
			throw new LockConfigurationException(LockError.NOT_PERMITTED,
					"A Redis server behind Twemproxy does not tell its run_id by INFO, so that it is not known whether the "
							+ "proxy keeps the keys of a lock on one server",
					"Permit INFO on each server for the user as whom Twemproxy connects, the default one, by ACL SETUSER "
							+ "default +info");
		}
		if (server != null && !runId.equals(server.runId()) && ranBefore(info, server.at())) {
			throw moved(Set.of(runId, server.runId()));
		}
		return runId;
	}

	/** Whether a server has run already at an instant. */
	private static boolean ranBefore(ServerInfo info, Deadline instant) {
		String uptime = info.find(ServerInfo.UPTIME);
		return uptime != null
				&& instant.remaining().plusSeconds(Long.parseLong(uptime)).toSeconds() > TOLERANCE_SECONDS;
	}

	private static LockConfigurationException divided(Set<String> servers) {
		return new LockConfigurationException(LockError.STORE_UNSUITABLE,
				"Twemproxy divides the keys of one lock among " + servers.size()
						+ " servers: scripts for keys with the same hash tag were run by the servers with run_id "
						+ text(servers),
				"Set hash_tag: \"{}\" for the pool in the configuration of Twemproxy, the same in each of its "
						+ "processes, and restart it");
	}

	private static LockConfigurationException moved(Set<String> servers) {
		return new LockConfigurationException(LockError.STORE_UNSUITABLE,
				"Twemproxy has begun to send keys to another server, which does not have their locks: those of one "
						+ "server belong to the servers with run_id " + text(servers),
				"Restart Twemproxy with the configuration that it had (hash_tag, servers, hash, distribution, and "
						+ "auto_eject_hosts: false), the same in each of its processes. To change the servers, stop "
						+ "the applications first");
	}

	private static String text(Set<String> servers) {
		return servers.stream().sorted().collect(Collectors.joining(", "));
	}

}
