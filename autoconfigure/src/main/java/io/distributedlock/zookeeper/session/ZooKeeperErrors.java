package io.distributedlock.zookeeper.session;

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.Deadline;

/** Translation of the client's errors into those of this project. */
public final class ZooKeeperErrors {

	public static final String PROVIDER = "zookeeper";

	private static final String CREDENTIALS_REFUSED = "refuses this client's credentials"
			+ " (distributed-lock.zookeeper.auth, or for a CuratorFramework of the application its authorization,"
			+ " or the login by SASL)";

	private static final Set<Code> UNCLEAR = EnumSet.of(Code.CONNECTIONLOSS, Code.OPERATIONTIMEOUT, Code.REQUESTTIMEOUT,
			Code.SYSTEMERROR, Code.SESSIONMOVED);

	private ZooKeeperErrors() {
	}

	/** Returns the client's own exception. */
	public static Throwable unwrap(Throwable ex) {
		Throwable cause = ex;
		while ((cause instanceof CompletionException || cause instanceof ExecutionException)
				&& cause.getCause() != null) {
			cause = cause.getCause();
		}
		return cause;
	}

	public static @Nullable Code code(@Nullable Throwable ex) {
		return (ex != null && unwrap(ex) instanceof KeeperException failure) ? failure.code() : null;
	}

	public static boolean is(@Nullable Throwable ex, Code code) {
		return code(ex) == code;
	}

	/** Returns whether the session has ended, and its nodes with it. */
	public static boolean isSessionOver(@Nullable Throwable ex) {
		Code code = code(ex);
		return code == Code.SESSIONEXPIRED || code == Code.AUTHFAILED;
	}

	/** Returns whether the servers refuse this client a request. */
	public static boolean isRefusal(@Nullable Throwable ex) {
		Code code = code(ex);
		return code == Code.NOAUTH || code == Code.SESSIONCLOSEDREQUIRESASLAUTH;
	}

	/**
	 * Returns whether the server closes the connection after this answer: other requests
	 * of the same connection are lost. The session lasts.
	 */
	static boolean closesConnection(@Nullable Throwable ex) {
		Code code = code(ex);
		return code == Code.SESSIONCLOSEDREQUIRESASLAUTH || code == Code.UNIMPLEMENTED;
	}

	/** Returns whether the effect of the request is not known. */
	public static boolean isUnclear(Throwable ex) {
		Code code = code(ex);
		return code == null || UNCLEAR.contains(code);
	}

	/** Returns whether the same request may succeed after the client reconnects. */
	static boolean mayPass(Throwable ex) {
		Code code = code(ex);
		return code != null && (isUnclear(ex) || isSessionOver(ex));
	}

	/**
	 * Returns the failure of a step of a transaction.
	 * @param code the answer, or {@code null} for a number that is not known
	 */
	public static KeeperException failure(@Nullable Code code, Op step) {
		return failure(code, step.getType(), step.getPath());
	}

	/**
	 * Returns the failure of a request.
	 * @param code the answer, or {@code null} for a number that is not known
	 * @param request the request's number in {@link OpCode}
	 */
	public static KeeperException failure(@Nullable Code code, int request, @Nullable String path) {
		if (code == Code.NOAUTH && path != null) {
			return missingPermission(request, path);
		}
		return KeeperException.create((code != null && code != Code.OK) ? code : Code.SYSTEMERROR, path);
	}

	private static KeeperException missingPermission(int request, String path) {
		return switch (request) {
			case OpCode.create, OpCode.createContainer ->
				new MissingPermissionException("CREATE", NodePaths.parent(path));
			case OpCode.delete -> new MissingPermissionException("DELETE", NodePaths.parent(path));
			case OpCode.setData -> new MissingPermissionException("WRITE", path);
			default -> new MissingPermissionException("READ", path);
		};
	}

	/** Returns the failure of a call without valid credentials; nothing was sent. */
	public static LockProviderException credentialsRefused() {
		return LockProviderException.nothingSent(LockError.NOT_PERMITTED, PROVIDER, CREDENTIALS_REFUSED, null);
	}

	/** Returns why a session cannot be used whose proof is too old. */
	static String notProven(long sessionTimeoutNanos) {
		return "has not confirmed yet that the session of this process lasts: after a pause or an outage that takes up"
				+ " to a quarter of the session's time-out of " + TimeUnit.NANOSECONDS.toMillis(sessionTimeoutNanos)
				+ " ms";
	}

	/** Translates the failure of a request that may have taken effect. */
	public static LockProviderException translate(Throwable ex) {
		Throwable cause = unwrap(ex);
		if (cause instanceof LockProviderException failure) {
			return failure;
		}
		Code code = code(cause);
		String refusal = (code != null) ? refusal(code, cause) : null;
		if (refusal != null) {
			return new LockProviderException(LockError.NOT_PERMITTED, PROVIDER, refusal, cause);
		}
		if (code == Code.OPERATIONTIMEOUT || code == Code.REQUESTTIMEOUT) {
			return new LockProviderException(LockError.STORE_TIMEOUT, PROVIDER,
					"did not answer in time: " + cause.getMessage(), cause);
		}
		return new LockProviderException(LockError.STORE_FAILED, PROVIDER, "failed: " + cause.getMessage(), cause);
	}

	/** Returns what a refusal means, or {@code null} if the code is none. */
	private static @Nullable String refusal(Code code, Throwable ex) {
		return switch (code) {
			case NOAUTH -> "refuses this client a permission that locks need: " + ex.getMessage();
			case AUTHFAILED -> CREDENTIALS_REFUSED;
			case SESSIONCLOSEDREQUIRESASLAUTH ->
				"refuses this client, because its servers demand an authentication that"
						+ " it has not made (zookeeper.enforce.auth.schemes or sessionRequireClientSASLAuth)";
			case INVALIDACL -> "refuses the access control list of the nodes, because this client has no identity"
					+ " (distributed-lock.zookeeper.acl)";
			default -> null;
		};
	}

	/** Translates the failure of a request of the set-up, which cannot grant a lock. */
	static LockException ofSetup(Throwable ex) {
		Throwable cause = unwrap(ex);
		if (cause instanceof LockConfigurationException mistake) {
			return mistake;
		}
		Code code = code(cause);
		if (code == Code.UNIMPLEMENTED) {
			return new LockConfigurationException(LockError.STORE_TOO_OLD,
					"The ZooKeeper server does not know a request that locks need: the lock store 'zookeeper' needs"
							+ " ZooKeeper 3.6 or later",
					"Upgrade the servers, or keep the locks in another store by distributed-lock.provider", cause);
		}
		if (code == Code.INVALIDACL) {
			return new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The ZooKeeper servers refuse the access control list of the lock nodes. With"
							+ " distributed-lock.zookeeper.acl=creator each node belongs to the identity of the client"
							+ " that created it, but this client has not authenticated",
					"Set distributed-lock.zookeeper.auth.scheme and auth.credentials (for a CuratorFramework of the"
							+ " application, its authorization), let the client authenticate by a certificate or SASL,"
							+ " or set distributed-lock.zookeeper.acl=open",
					cause);
		}
		LockProviderException failure = translate(cause);
		return failure.isEffectUnknown()
				? LockProviderException.nothingSent(failure.error(), PROVIDER, failure.problem(), cause) : failure;
	}

	/** Translates the failure of a call, which may be one of this project. */
	public static LockException failureOf(Throwable ex) {
		return (unwrap(ex) instanceof LockException failure) ? failure : translate(ex);
	}

	/**
	 * Waits for an answer on the current thread.
	 * @param late creates the failure at the deadline
	 * @throws LockException if the answer is a failure, comes too late, or the thread is
	 * interrupted before
	 */
	public static <T> T await(CompletableFuture<T> answer, Deadline deadline, Supplier<? extends LockException> late) {
		try {
			return answer.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw failureOf(ex);
		}
		catch (TimeoutException ex) {
			throw late.get();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new LockProviderException(LockError.STORE_FAILED, PROVIDER,
					"did not answer before the thread was interrupted", ex);
		}
	}

	/** Returns the failure of a call that has waited for the whole of its time-out. */
	public static LockProviderException timedOut() {
		return new LockProviderException(LockError.STORE_TIMEOUT, PROVIDER,
				"did not answer in time (distributed-lock.call-timeout)", null);
	}

	/**
	 * Refusal of a request for a permission that the client lacks, with the node to which
	 * it has to be granted: that is the parent of a node that is created or deleted.
	 */
	private static final class MissingPermissionException extends KeeperException {

		private static final long serialVersionUID = 1L;

		private final String message;

		private MissingPermissionException(String permission, String node) {
			super(Code.NOAUTH);
			this.message = permission + " on the node '" + (node.isEmpty() ? "/" : node) + "'";
		}

		@Override
		public String getMessage() {
			return this.message;
		}

	}

}
