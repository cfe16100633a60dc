package io.distributedlock.web;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

import io.distributedlock.InvalidLockKeyException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockHolder;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockProviderException;

/**
 * Spring's exception for the error response to a lock exception: 400 for a key that the
 * values of the call make wrong, 409 for a busy lock, 503 for a store that could not
 * answer or an application that is shutting down.
 * <p>
 * A response has the id of the error as the property {@value #CODE} of its problem
 * details, but neither the key nor the holder nor the store, which the message in the log
 * names. The lock exception may be inside an exception that only transports it from
 * another thread or through a proxy; any other exception with such a cause is the
 * application's own. Lost locks are not translated: the work may have taken effect, so
 * that neither status is true.
 */
final class LockResponseStatusException extends ResponseStatusException {

	private static final long serialVersionUID = 1L;

	private static final String CODE = "code";

	private static final Log logger = LogFactory.getLog(LockResponseStatusException.class);

	private final HttpHeaders headers = new HttpHeaders();

	private LockResponseStatusException(HttpStatus status, String detail, LockException ex) {
		super(status, detail, ex);
		getBody().setProperty(CODE, ex.id());
	}

	@Override
	public HttpHeaders getHeaders() {
		return this.headers;
	}

	/**
	 * Translates an exception, and logs it.
	 * @param thrown what no handler of the application has handled
	 * @return Spring's exception, or {@code null} if it stays as it is
	 */
	static @Nullable LockResponseStatusException of(Throwable thrown) {
		Throwable transported = thrown;
		while (isTransport(transported) && transported.getCause() != null) {
			transported = transported.getCause();
		}
		if (transported instanceof LockNotAcquiredException busy) {
			return conflict(busy);
		}
		if (transported instanceof InvalidLockKeyException invalid) {
			logger.warn(oneLine(invalid));
			return new LockResponseStatusException(HttpStatus.BAD_REQUEST,
					"A value that the operation needs is missing or not valid.", invalid);
		}
		return (transported instanceof LockProviderException failure) ? unavailable(failure) : null;
	}

	private static boolean isTransport(Throwable ex) {
		return ex instanceof CompletionException || ex instanceof ExecutionException
				|| ex instanceof UndeclaredThrowableException || ex instanceof InvocationTargetException;
	}

	/**
	 * Logs at DEBUG, as for a method that is skipped: contention is no fault, the client
	 * is told, meters count it, and clients could fill the log.
	 */
	private static LockResponseStatusException conflict(LockNotAcquiredException ex) {
		if (logger.isDebugEnabled()) {
			logger.debug(oneLine(ex));
		}
		LockResponseStatusException response = new LockResponseStatusException(HttpStatus.CONFLICT,
				"Another operation is in progress that excludes this one. Try again later.", ex);
		LockHolder holder = ex.holder();
		Duration remaining = (holder != null) ? holder.remaining() : null;
		if (remaining != null) {
			response.headers.set(HttpHeaders.RETRY_AFTER, Long.toString(wholeSeconds(remaining)));
		}
		return response;
	}

	/** Logs at WARN; a shutdown, which is part of each roll-out, at INFO. */
	private static LockResponseStatusException unavailable(LockProviderException ex) {
		if (ex.error() == LockError.SHUTTING_DOWN) {
			logger.info(oneLine(ex));
		}
		else {
			logger.warn(oneLine(ex));
		}
		return new LockResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE,
				"The operation is not available at present. Try again later.", ex);
	}

	/** The words of a server may have several lines. */
	private static String oneLine(LockException ex) {
		return String.valueOf(ex.getMessage()).lines().map(String::strip).collect(Collectors.joining(" "));
	}

	private static long wholeSeconds(Duration time) {
		return Math.max(1, time.toSeconds() + ((time.toNanosPart() > 0) ? 1 : 0));
	}

}
