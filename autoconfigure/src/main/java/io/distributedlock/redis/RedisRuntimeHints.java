package io.distributedlock.redis;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** Hints for the scripts, and for the way to a connection of Jedis. */
final class RedisRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources().registerPattern("io/distributedlock/redis/*.lua");
		hints.resources().registerPattern("io/distributedlock/redis/script/*.lua");
		hints.reflection()
			.registerTypeIfPresent(classLoader, "redis.clients.jedis.UnifiedJedis",
					(type) -> type.withField("provider"));
	}

}
