package io.distributedlock.benchmarks.contender;

import java.util.List;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.benchmarks.Endpoint;
import io.distributedlock.benchmarks.Store;

/**
 * Spring Data's connections to Redis, as Spring Boot would create them.
 */
final class RedisFactories {

	private RedisFactories() {
	}

	/** Opens a started factory, to be destroyed by the caller. */
	static LettuceConnectionFactory open(Endpoint server) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(configuration(server));
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	private static RedisConfiguration configuration(Endpoint server) {
		return (server.store() == Store.REDIS_CLUSTER)
				? new RedisClusterConfiguration(List.of(server.address().split(",")))
				: new RedisStandaloneConfiguration("127.0.0.1", server.port());
	}

}
