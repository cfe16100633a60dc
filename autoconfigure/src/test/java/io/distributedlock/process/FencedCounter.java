package io.distributedlock.process;

import java.util.List;

import redis.clients.jedis.Jedis;

/**
 * A counter in a Redis server of its own that refuses the tokens of earlier holders, be
 * it for reading or for writing. It logs the token of each write.
 */
final class FencedCounter implements AutoCloseable {

	private static final String FENCE = """
			local fence = redis.call('GET', KEYS[1]) or ''
			if ARGV[1] < fence then
			  return -1
			end
			redis.call('SET', KEYS[1], ARGV[1])
			""";

	private static final String READ = FENCE + "return tonumber(redis.call('GET', KEYS[2]) or 0)";

	private static final String WRITE = FENCE + """
			redis.call('SET', KEYS[2], ARGV[2])
			redis.call('RPUSH', KEYS[3], ARGV[1])
			return 0
			""";

	private final Jedis redis;

	private final List<String> keys;

	FencedCounter(int port, String name) {
		this.redis = new Jedis("127.0.0.1", port, 10_000);
		this.keys = List.of(name + ":fence", name + ":value", name + ":log");
	}

	/** Reads the counter, or returns a negative number if the token is refused. */
	long read(String token) {
		return (Long) this.redis.eval(READ, this.keys, List.of(token));
	}

	/** Writes the counter, unless the token is refused. */
	boolean write(String token, long value) {
		return (Long) this.redis.eval(WRITE, this.keys, List.of(token, Long.toString(value))) == 0;
	}

	void clear() {
		this.keys.forEach(this.redis::del);
	}

	long value() {
		String value = this.redis.get(this.keys.get(1));
		return (value != null) ? Long.parseLong(value) : 0;
	}

	/** The tokens of all writes, in their order. */
	List<String> log() {
		return this.redis.lrange(this.keys.get(2), 0, -1);
	}

	@Override
	public void close() {
		this.redis.close();
	}

}
