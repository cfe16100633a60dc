package io.distributedlock.redis;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;

/**
 * Tells what the server or its client meant by an error, by the code with which the
 * server's answer begins: both clients and all versions keep it, inside scripts too.
 */
final class RedisErrors {

	static final String PROVIDER = "redis";

	private static final Pattern CODE = Pattern
		.compile("(?:^|[\\s:-])(READONLY|OOM|BUSY|WRONGTYPE|NOPERM|NOAUTH|WRONGPASS|LOADING|MOVED|ASK|TRYAGAIN"
				+ "|CLUSTERDOWN|MASTERDOWN|NOREPLICAS|MISCONF|CROSSSLOT|NOSCRIPT)\\s");

	/** Inside a script the server does not say NOPERM. */
	private static final Pattern DENIED = Pattern
		.compile("The user executing the script can't|(?i)unknown command|No permissions to access");

	/** Soon to be over; the command was not run. */
	private static final Set<String> PASSING = Set.of("LOADING", "MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN",
			"MASTERDOWN");

	/** The first write was refused, so that nothing was written. */
	private static final Set<String> REFUSED = Set.of("READONLY", "OOM", "BUSY", "NOREPLICAS", "MISCONF", "CROSSSLOT",
			"NOSCRIPT");

	private static final Set<String> DENIALS = Set.of("NOPERM", "NOAUTH", "WRONGPASS");

	private RedisErrors() {
	}

	/** Whether the server has forgotten the script, or never saw it. */
	static boolean isUnknownScript(Throwable ex) {
		return "NOSCRIPT".equals(code(ex));
	}

	/** Whether to ask again soon: the server answered that it could not yet. */
	static boolean isPassing(Throwable ex) {
		String code = code(ex);
		return code != null && PASSING.contains(code);
	}

	/**
	 * Whether the keys of one call are on two nodes, because their slot is being moved. A
	 * call of one key alone would be served.
	 */
	static boolean isApart(Throwable ex) {
		return "TRYAGAIN".equals(code(ex));
	}

	/** Whether another node serves the slot by now. */
	static boolean isMoved(Throwable ex) {
		return "MOVED".equals(code(ex));
	}

	/** Whether the keys of one call belong to different nodes. */
	static boolean isSplit(Throwable ex) {
		return "CROSSSLOT".equals(code(ex));
	}

	/** Whether the server, or a proxy before it, refuses this to this user. */
	static boolean isDenied(Throwable ex) {
		String code = code(ex);
		return (code != null) ? DENIALS.contains(code) : find(DENIED, ex) != null;
	}

	static LockProviderException notConnected(RuntimeException ex) {
		LockError error = isDenied(ex) ? LockError.NOT_PERMITTED
				: isTimeout(ex) ? LockError.STORE_TIMEOUT : LockError.STORE_FAILED;
		return LockProviderException.nothingSent(error, PROVIDER, "cannot be reached: " + text(ex), ex);
	}

	/**
	 * What a failed call is to its caller.
	 * @param ex the client's exception
	 * @param resent whether the client may have sent the command twice, so that a refusal
	 * of one says nothing of the other
	 */
	static LockProviderException translate(RuntimeException ex, boolean resent) {
		if (ex instanceof LockProviderException failure) {
			return failure;
		}
		String code = code(ex);
		if (code != null && !resent && (PASSING.contains(code) || REFUSED.contains(code))) {
			return LockProviderException.nothingSent(LockError.STORE_FAILED, PROVIDER, "refused: " + text(ex), ex);
		}
		if (isDenied(ex)) {
			return new LockProviderException(LockError.NOT_PERMITTED, PROVIDER,
					"refuses this user a command, a key or a channel that locks need: " + text(ex), ex);
		}
		if (isTimeout(ex)) {
			return timedOut(ex);
		}
		return new LockProviderException(LockError.STORE_FAILED, PROVIDER, "failed: " + text(ex), ex);
	}

	static LockProviderException timedOut(Throwable ex) {
		return new LockProviderException(LockError.STORE_TIMEOUT, PROVIDER, "did not answer in time", ex);
	}

	static LockProviderException interrupted(@Nullable Throwable ex) {
		return new LockProviderException(LockError.STORE_FAILED, PROVIDER,
				"was not waited for: the thread was interrupted", ex);
	}

	static LockConfigurationException cannotWait() {
		return new LockConfigurationException(LockError.INVALID_PROPERTY,
				"The property distributed-lock.redis.min-replicas is set, but this connection factory does not let "
						+ "a command be followed by WAIT on its own connection",
				"Use Lettuce, or Jedis without its unified client");
	}

	/** Whether there was no answer in the time that the client or the caller gave. */
	static boolean isTimeout(Throwable ex) {
		for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
			if (cause.getClass().getSimpleName().endsWith("TimeoutException")) {
				return true;
			}
		}
		return false;
	}

	private static @Nullable String code(Throwable ex) {
		Matcher matcher = find(CODE, ex);
		return (matcher != null) ? matcher.group(1) : null;
	}

	private static @Nullable Matcher find(Pattern pattern, Throwable ex) {
		for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
			if (cause.getMessage() != null) {
				Matcher matcher = pattern.matcher(cause.getMessage());
				if (matcher.find()) {
					return matcher;
				}
			}
		}
		return null;
	}

	/** The text of the innermost cause, which is the server's own. */
	private static String text(Throwable ex) {
		Throwable innermost = ex;
		while (innermost.getCause() != null) {
			innermost = innermost.getCause();
		}
		return (innermost.getMessage() != null) ? innermost.getMessage() : innermost.toString();
	}

}
