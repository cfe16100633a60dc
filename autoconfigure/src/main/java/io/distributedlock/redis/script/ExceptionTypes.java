package io.distributedlock.redis.script;

import java.net.SocketTimeoutException;
import java.util.Set;
import java.util.concurrent.TimeoutException;

import org.springframework.dao.QueryTimeoutException;

/**
 * The types of the clients' exceptions, by their names, since Lettuce and Jedis are
 * optional.
 */
final class ExceptionTypes {

	private static final Set<String> TIMEOUTS = Set.of("io.lettuce.core.RedisCommandTimeoutException",
			"io.netty.channel.ConnectTimeoutException", "io.netty.handler.ssl.SslHandshakeTimeoutException",
			"io.netty.handler.timeout.TimeoutException", "io.netty.resolver.dns.DnsNameResolverTimeoutException");

	private ExceptionTypes() {
	}

	/** Whether the exception says that a time-out has passed; its causes do not count. */
	static boolean isTimeout(Throwable ex) {
		return ex instanceof TimeoutException || ex instanceof SocketTimeoutException
				|| ex instanceof QueryTimeoutException || isInstance(ex, TIMEOUTS);
	}

	/** Whether the class of the exception, or a superclass, has one of the names. */
	static boolean isInstance(Throwable ex, Set<String> names) {
		for (Class<?> type = ex.getClass(); type != null; type = type.getSuperclass()) {
			if (names.contains(type.getName())) {
				return true;
			}
		}
		return false;
	}

}
