package io.distributedlock.redis.script;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.Set;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;

/**
 * Translation of the errors of the server and its clients, by the code of the server's
 * error reply and the type of the client's exception.
 */
public final class RedisErrors {

	public static final String PROVIDER = "redis";

	/** Conditions that end soon; the server did not run the command. */
	private static final Set<String> TRANSIENT = Set.of("LOADING", "MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN",
			"MASTERDOWN");

	/** The server accepts no writes for now, and refused the first one. */
	private static final Set<String> WRITES_REFUSED = Set.of("READONLY", "OOM", "NOREPLICAS", "MISCONF");

	/** The server refused the call, so that nothing was written. */
	private static final Set<String> REFUSED = Set.of("BUSY", "CROSSSLOT", "NOSCRIPT");

	/** The end of a connection before the reply to a greeting: Lettuce, and Jedis. */
	private static final Set<String> CLOSED_AT_ONCE = Set.of("Connection closed prematurely",
			"Unexpected end of stream.");

	private static final Set<String> TIMEOUTS = Set.of("io.lettuce.core.RedisCommandTimeoutException",
			"io.netty.channel.ConnectTimeoutException", "io.netty.handler.ssl.SslHandshakeTimeoutException",
			"io.netty.handler.timeout.TimeoutException", "io.netty.resolver.dns.DnsNameResolverTimeoutException");

	private RedisErrors() {
	}

	/** Whether the script is not in the server's cache. */
	public static boolean isUnknownScript(Throwable ex) {
		return "NOSCRIPT".equals(ErrorReply.of(ex).code());
	}

	/** Whether the same call may succeed soon. */
	public static boolean isTransient(Throwable ex) {
		return ErrorReply.of(ex).hasCode(TRANSIENT);
	}

	/**
	 * Whether the keys of one call are on two nodes, since their slot is migrating. A
	 * call with one of the keys alone can succeed.
	 */
	public static boolean isSlotMigrating(Throwable ex) {
		return "TRYAGAIN".equals(ErrorReply.of(ex).code());
	}

	/** Whether the server is a replica, which refuses writes. */
	public static boolean isReadOnly(Throwable ex) {
		return "READONLY".equals(ErrorReply.of(ex).code());
	}

	/** Whether another node serves the slot. */
	public static boolean isMoved(Throwable ex) {
		return "MOVED".equals(ErrorReply.of(ex).code());
	}

	/** Whether the keys of one call have different slots. */
	public static boolean isCrossSlot(Throwable ex) {
		return ErrorReply.of(ex).isCrossSlot();
	}

	/** Whether the server, or a proxy before it, denies the user a right. */
	public static boolean isDenied(Throwable ex) {
		return ErrorReply.of(ex).isDenial();
	}

	public static LockProviderException notConnected(RuntimeException ex) {
		LockError error = isDenied(ex) ? LockError.NOT_PERMITTED
				: isTimeout(ex) ? LockError.STORE_TIMEOUT : LockError.STORE_FAILED;
		String hint = isClosedAtOnce(ex)
				? ". The connection was closed at the greeting of the client: the server may require TLS, the server "
						+ "behind a proxy may be down, or the proxy, such as Twemproxy, may not know the greeting"
				: "";
		return LockProviderException.nothingSent(error, PROVIDER, "cannot be reached: " + text(ex) + hint, ex);
	}

	private static boolean isClosedAtOnce(Throwable ex) {
		for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
			if (cause.getMessage() != null && CLOSED_AT_ONCE.contains(cause.getMessage())) {
				return true;
			}
		}
		return false;
	}

	/** Translates the failure of a call whose command was never given to the client. */
	public static LockProviderException notSent(RuntimeException ex) {
		if (ex instanceof LockProviderException failure && !failure.isEffectUnknown()) {
			return failure;
		}
		return (ex instanceof LockConfigurationException) ? notCalled(ex) : notConnected(ex);
	}

	/**
	 * Translates the failure of a call.
	 * @param ex the client's exception
	 * @param resent whether the client may have sent the command twice: the refusal of
	 * one does not exclude that the other was run
	 */
	public static LockProviderException translate(RuntimeException ex, boolean resent) {
		if (ex instanceof LockProviderException failure) {
			return (resent && !failure.isEffectUnknown()) ? unclear(failure) : failure;
		}
		ErrorReply reply = ErrorReply.of(ex);
		boolean writesRefused = reply.hasCode(WRITES_REFUSED);
		if (!resent && (writesRefused || reply.hasCode(TRANSIENT) || reply.hasCode(REFUSED))) {
			return LockProviderException.nothingSent(writesRefused ? LockError.WRITES_REFUSED : LockError.STORE_FAILED,
					PROVIDER, "refused: " + text(ex), ex);
		}
		if (reply.isScriptRefused()) {
			return new LockProviderException(LockError.STORE_UNSUITABLE, PROVIDER,
					"refuses the scripts of locks: " + text(ex) + ". With Tair, set script_check_enable to 0 in the "
							+ "console: all keys of a script have one hash tag, which its check does not see",
					ex);
		}
		if (reply.isDenial()) {
			return new LockProviderException(LockError.NOT_PERMITTED, PROVIDER,
					"denies this user a command, a key or a channel that locks need: " + text(ex), ex);
		}
		if (isTimeout(ex)) {
			return new LockProviderException(LockError.STORE_TIMEOUT, PROVIDER,
					"did not answer in time (distributed-lock.call-timeout, or spring.data.redis.timeout if that is "
							+ "shorter)",
					ex);
		}
		return new LockProviderException(LockError.STORE_FAILED, PROVIDER, "failed: " + text(ex), ex);
	}

	/** Returns the failure of a call of which an earlier command may have been run. */
	private static LockProviderException unclear(LockProviderException last) {
		return new LockProviderException(last.error(), PROVIDER,
				"lost the connection during a call, whose effect is unknown", last);
	}

	public static LockProviderException timedOut(Throwable ex) {
		return new LockProviderException(LockError.STORE_TIMEOUT, PROVIDER,
				"did not answer in time (distributed-lock.call-timeout)", ex);
	}

	/** Returns the failure of a sent call whose caller leaves at its deadline. */
	public static LockProviderException timedOut(CallKind kind) {
		TimeoutException noReply = new TimeoutException("No reply in time");
		return (kind != CallKind.RENEWAL) ? timedOut(noReply)
				: new LockProviderException(LockError.STORE_TIMEOUT, PROVIDER,
						"did not answer in time (distributed-lock.call-timeout, or a sixth of the lease if that is "
								+ "shorter)",
						noReply);
	}

	/** Returns the failure of a call without a free worker or connection in time. */
	public static LockProviderException notCalledInTime() {
		return LockProviderException.nothingSent(LockError.STORE_TIMEOUT, PROVIDER,
				"could not be called in time (distributed-lock.call-timeout)",
				new TimeoutException("The time was over before the command was sent"));
	}

	/** Returns the failure of a call for which there is no thread. */
	public static LockProviderException notCalled(Throwable ex) {
		return LockProviderException.nothingSent(LockError.STORE_FAILED, PROVIDER, "could not be called: " + text(ex),
				ex);
	}

	/** Returns the failure of a call after the end of the provider. */
	public static LockProviderException closed(@Nullable Throwable ex) {
		return LockProviderException.nothingSent(LockError.SHUTTING_DOWN, PROVIDER,
				"is closed, since the application is shutting down", ex);
	}

	public static LockProviderException interrupted(@Nullable Throwable ex) {
		return new LockProviderException(LockError.STORE_FAILED, PROVIDER,
				"did not answer before the thread was interrupted", ex);
	}

	/** Returns the failure of a call whose thread was interrupted before it was sent. */
	public static LockProviderException notCalledBeforeInterrupt(@Nullable Throwable ex) {
		return LockProviderException.nothingSent(LockError.STORE_FAILED, PROVIDER,
				"was not called before the thread was interrupted", ex);
	}

	public static LockConfigurationException replicasNotSupported() {
		return new LockConfigurationException(LockError.INVALID_PROPERTY,
				"The property distributed-lock.redis.min-replicas is set, but this connection factory cannot send "
						+ "WAIT on the connection of the command before it",
				"Use Lettuce, or Jedis without its unified client, or remove the property");
	}

	public static LockConfigurationException replicasNotSupportedByStaticNodes() {
		return new LockConfigurationException(LockError.INVALID_PROPERTY,
				"The property distributed-lock.redis.min-replicas is set, but the connection factory has a static "
						+ "master/replica configuration, which gives no connection to the master alone",
				"Configure the master alone, a sentinel set or a cluster, or remove the property");
	}

	public static LockConfigurationException twemproxyBeforeCluster() {
		return new LockConfigurationException(LockError.INVALID_PROPERTY,
				"The property distributed-lock.redis.twemproxy is true, but the connection factory is "
						+ "that of a cluster, whose commands Twemproxy refuses",
				"Remove the property, or connect to Twemproxy by spring.data.redis.host and port");
	}

	/** Whether there was no reply within the time-out of the client or the caller. */
	public static boolean isTimeout(Throwable ex) {
		for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
			if (cause instanceof TimeoutException || cause instanceof SocketTimeoutException
					|| cause instanceof QueryTimeoutException || ErrorReply.isInstance(cause, TIMEOUTS)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * The message of the innermost cause, which is the server's own, or the system's.
	 * Netty adds the address to it, and Jedis adds it to its own exception as suppressed.
	 * Other suppressed exceptions, such as Reactor's, do not tell the cause.
	 */
	private static String text(Throwable ex) {
		Throwable outer = ex;
		Throwable innermost = ex;
		while (innermost.getCause() != null) {
			outer = innermost;
			innermost = innermost.getCause();
		}
		String text = message(innermost);
		for (Throwable suppressed : innermost.getSuppressed()) {
			if (suppressed instanceof IOException) {
				return text + " (" + message(suppressed) + ")";
			}
		}
		return message(outer).startsWith(text) ? message(outer) : text;
	}

	private static String message(Throwable ex) {
		return (ex.getMessage() != null) ? ex.getMessage() : ex.toString();
	}

}
