package io.distributedlock.redis;

import java.util.ArrayList;
import java.util.List;

import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConfiguration;

/**
 * The rights that locks need, and no others, as rules of {@code ACL SETUSER}. The
 * contract tests run as a user with these.
 */
public final class RedisRights {

	static final String USER = "locks";

	public static final String PASSWORD = "only for locks";

	/** Sent by the provider; the second only if the server does not know a script. */
	public static final List<String> SENT = List.of("+evalsha", "+eval");

	/** Called by the scripts. */
	public static final List<String> IN_SCRIPTS = List.of("+get", "+getrange", "+set", "+del", "+pexpire", "+pttl",
			"+zadd", "+zincrby", "+time", "+publish");

	/** For notifications; without them waiting processes poll. */
	static final List<String> NOTIFICATIONS = List.of("+subscribe", "+unsubscribe");

	/** Only for the check at start, which succeeds without. */
	static final List<String> CHECK = List.of("+info");

	/**
	 * Sent by the clients of their own accord, to a server of version 7.2 or later also
	 * CLIENT SETINFO.
	 */
	public static final List<String> CONNECTION = List.of("+hello", "+auth", "+ping", "+client|setname");

	/** Sent by the clients to find their way in a cluster, the last while slots move. */
	static final List<String> CLUSTER = List.of("+cluster|nodes", "+cluster|slots", "+cluster|info", "+cluster|myid",
			"+asking");

	/** Only with {@code distributed-lock.redis.min-replicas}. */
	static final List<String> REPLICAS = List.of("+wait");

	/** Only for the nodes of a quorum, beside all others but those for notifications. */
	static final List<String> QUORUM = List.of("+zscore");

	private RedisRights() {
	}

	/** Lists the rules for the keys and channels of one prefix, without commands. */
	static List<String> ofPrefix(String prefix) {
		return List.of("resetkeys", "resetchannels", "-@all", "~{" + prefix + ":b??}:*", "&" + prefix + ":notify:*");
	}

	/** Creates the user. */
	@SafeVarargs
	public static void grant(Jedis server, String prefix, List<String>... commands) {
		grantTo(USER, server, prefix, commands);
	}

	@SafeVarargs
	private static void grantTo(String user, Jedis server, String prefix, List<String>... commands) {
		List<String> rules = new ArrayList<>(List.of("reset", "on", ">" + PASSWORD));
		rules.addAll(ofPrefix(prefix));
		for (List<String> each : commands) {
			rules.addAll(each);
		}
		server.aclSetUser(user, rules.toArray(String[]::new));
	}

	/** Lets connections log in as the user. */
	public static RedisConfiguration login(RedisConfiguration servers) {
		return login(servers, USER);
	}

	public static RedisConfiguration login(RedisConfiguration servers, String user) {
		RedisConfiguration.WithAuthentication login = (RedisConfiguration.WithAuthentication) servers;
		login.setUsername(user);
		login.setPassword(PASSWORD);
		return servers;
	}

	/** Creates a user named as its prefix, with all rights but those for replicas. */
	static void grantForKit(Jedis server, String prefix) {
		grantTo(prefix, server, prefix, SENT, IN_SCRIPTS, NOTIFICATIONS, CHECK, CONNECTION, CLUSTER);
	}

	/** Creates a user named as its prefix, with the rights for a node of a quorum. */
	public static void grantForQuorum(Jedis server, String prefix) {
		grantTo(prefix, server, prefix, SENT, IN_SCRIPTS, CHECK, CONNECTION, QUORUM);
	}

}
