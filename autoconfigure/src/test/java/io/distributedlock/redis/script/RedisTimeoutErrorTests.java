package io.distributedlock.redis.script;

import java.net.SocketTimeoutException;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

import io.lettuce.core.RedisCommandTimeoutException;
import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import io.netty.handler.timeout.ReadTimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.exceptions.JedisConnectionException;

import org.springframework.dao.QueryTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;

class RedisTimeoutErrorTests {

	static Stream<Throwable> timeouts() {
		return Stream.of(new TimeoutException(), new SocketTimeoutException(), new QueryTimeoutException("late"),
				new RedisCommandTimeoutException("late"), new ConnectTimeoutException("late"),
				new SslHandshakeTimeoutException("late"), ReadTimeoutException.INSTANCE);
	}

	@ParameterizedTest
	@MethodSource("timeouts")
	void timeoutIsRecognisedByItsType(Throwable ex) {
		assertThat(RedisErrors.isTimeout(ex)).isTrue();
	}

	@Test
	void exceptionIsATimeoutByItsTypeOrThatOfACause() {
		assertThat(RedisErrors.isTimeout(new InvalidTimeoutException())).isFalse();
		assertThat(RedisErrors.isTimeout(new JedisConnectionException(new SocketTimeoutException()))).isTrue();
	}

	@Test
	void subclassIsAnInstance() {
		assertThat(ErrorReply.isInstance(new SocketTimeoutException(), Set.of("java.io.IOException"))).isTrue();
		assertThat(ErrorReply.isInstance(new SocketTimeoutException(), Set.of("java.net.SocketException"))).isFalse();
	}

	private static final class InvalidTimeoutException extends RuntimeException {

	}

}
