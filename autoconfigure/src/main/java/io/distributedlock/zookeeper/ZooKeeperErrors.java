package io.distributedlock.zookeeper;

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockProviderException;

/** Translation of the client's errors into those of this project. */
final class ZooKeeperErrors {

	static final String PROVIDER = "zookeeper";

	private static final Set<Code> UNCLEAR = EnumSet.of(Code.CONNECTIONLOSS, Code.OPERATIONTIMEOUT, Code.REQUESTTIMEOUT,
			Code.SYSTEMERROR, Code.SESSIONMOVED);

	private ZooKeeperErrors() {
	}

	/** Returns the client's own exception. */
	static Throwable unwrap(Throwable ex) {
		Throwable cause = ex;
		while ((cause instanceof CompletionException || cause instanceof ExecutionException)
				&& cause.getCause() != null) {
			cause = cause.getCause();
		}
		return cause;
	}

	static @Nullable Code code(@Nullable Throwable ex) {
		return (ex != null && unwrap(ex) instanceof KeeperException failure) ? failure.code() : null;
	}

	static boolean is(@Nullable Throwable ex, Code code) {
		return code(ex) == code;
	}

	/** Returns whether the session has ended, and its nodes with it. */
	static boolean isSessionOver(@Nullable Throwable ex) {
		Code code = code(ex);
		return code == Code.SESSIONEXPIRED || code == Code.AUTHFAILED || code == Code.SESSIONCLOSEDREQUIRESASLAUTH;
	}

	/** Returns whether the effect of the request is not known. */
	static boolean isUnclear(Throwable ex) {
		Code code = code(ex);
		return code == null || UNCLEAR.contains(code);
	}

	/** Returns whether the same request may succeed after the client reconnects. */
	static boolean mayPass(Throwable ex) {
		Code code = code(ex);
		return code != null && code != Code.SESSIONCLOSEDREQUIRESASLAUTH && (isUnclear(ex) || isSessionOver(ex));
	}

	/** Returns the failure of a call without valid credentials; nothing was sent. */
	static LockProviderException credentialsRefused() {
		return LockProviderException.nothingSent(LockError.NOT_PERMITTED, PROVIDER, "refuses this client's credentials",
				null);
	}

	/** Translates the failure of a request that may have taken effect. */
	static LockProviderException translate(Throwable ex) {
		Throwable cause = unwrap(ex);
		if (cause instanceof LockProviderException failure) {
			return failure;
		}
		Code code = code(cause);
		if (code == Code.NOAUTH || code == Code.AUTHFAILED || code == Code.SESSIONCLOSEDREQUIRESASLAUTH) {
			return new LockProviderException(LockError.NOT_PERMITTED, PROVIDER,
					"refuses this client a permission that locks need: " + cause.getMessage(), cause);
		}
		if (code == Code.OPERATIONTIMEOUT || code == Code.REQUESTTIMEOUT) {
			return timedOut(cause);
		}
		return new LockProviderException(LockError.STORE_FAILED, PROVIDER, "failed: " + cause.getMessage(), cause);
	}

	/** Translates the failure of a request that cannot have granted a lock. */
	static LockException nothingSent(Throwable ex) {
		if (unwrap(ex) instanceof LockConfigurationException mistake) {
			return mistake;
		}
		LockProviderException failure = translate(ex);
		return failure.isEffectUnknown() ? LockProviderException.nothingSent(failure.error(), PROVIDER,
				"cannot be used: " + unwrap(ex).getMessage(), unwrap(ex)) : failure;
	}

	/** Translates the failure of a call, which may be one of this project. */
	static LockException failureOf(Throwable ex) {
		return (unwrap(ex) instanceof LockException failure) ? failure : translate(ex);
	}

	private static LockProviderException timedOut(Throwable ex) {
		return new LockProviderException(LockError.STORE_TIMEOUT, PROVIDER,
				"did not answer in time (distributed-lock.call-timeout)", ex);
	}

}
