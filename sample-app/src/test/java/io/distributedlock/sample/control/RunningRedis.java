package io.distributedlock.sample.control;

import java.io.IOException;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * A running server of the profile "redis", for tests of other packages.
 */
public final class RunningRedis implements AutoCloseable {

	private final EmbeddedRedisServer server;

	private final LettuceConnectionFactory connections;

	public RunningRedis() throws IOException {
		this.server = new EmbeddedRedisServer();
		RedisStandaloneConfiguration address = new RedisStandaloneConfiguration(this.server.getStandalone().getHost(),
				this.server.getStandalone().getPort());
		address.setPassword(this.server.getPassword());
		this.connections = new LettuceConnectionFactory(address);
		this.connections.afterPropertiesSet();
		this.connections.start();
	}

	public int port() {
		return this.server.getStandalone().getPort();
	}

	public String password() {
		return this.server.getPassword();
	}

	public StringRedisTemplate template() {
		return new StringRedisTemplate(this.connections);
	}

	@Override
	public void close() {
		this.connections.destroy();
		this.server.close();
	}

}
