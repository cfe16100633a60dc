package io.distributedlock.redis;

import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The standalone server that tests share.
 */
public final class TestRedis {

	private TestRedis() {
	}

	static RedisServer server() {
		return Standalone.SERVER;
	}

	/** A standalone server of the oldest version that locks support. */
	static RedisServer oldest() {
		return Oldest.SERVER;
	}

	/** The port of the server. */
	public static int port() {
		return server().port();
	}

	/** Empties the server and opens a client with all rights. */
	public static Jedis emptied() {
		Jedis admin = admin();
		admin.flushAll();
		return admin;
	}

	/** Opens a client with all rights. */
	public static Jedis admin() {
		return server().admin();
	}

	/** A started factory, to be destroyed by the caller. */
	public static LettuceConnectionFactory lettuce(int port) {
		return TestClients.lettuce(standalone(port));
	}

	/** A started factory of one user, to be destroyed by the caller. */
	static LettuceConnectionFactory lettuce(int port, String user, String password) {
		return TestClients.lettuce(standalone(port, user, password));
	}

	/** A started factory, to be destroyed by the caller. */
	public static JedisConnectionFactory jedis(int port) {
		return TestClients.jedis(standalone(port));
	}

	/** A started factory of one user, to be destroyed by the caller. */
	static JedisConnectionFactory jedis(int port, String user, String password) {
		return TestClients.jedis(standalone(port, user, password));
	}

	public static RedisConfiguration standalone(int port) {
		return new RedisStandaloneConfiguration("127.0.0.1", port);
	}

	public static RedisConfiguration standalone(int port, String user, String password) {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("127.0.0.1", port);
		server.setUsername(user);
		server.setPassword(password);
		return server;
	}

	private static final class Standalone {

		private static final RedisServer SERVER = new RedisServer();

	}

	private static final class Oldest {

		private static final RedisServer SERVER = new RedisServer(RedisServer.Version.REDIS_6_2);

	}

}
