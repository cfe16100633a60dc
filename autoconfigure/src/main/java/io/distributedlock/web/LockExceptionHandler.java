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

import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockHolder;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockProviderException;

/**
 * Handler of lock exceptions that leave a controller of Spring MVC or WebFlux. Answers
 * with a {@link ProblemDetail} (RFC 9457): 409 for a busy lock, 503 for a store that
 * could not answer or an application that is shutting down.
 * <p>
 * An answer has the id of the error as its property {@value #CODE}, but neither the key
 * nor the holder nor the store, which the message in the log names. Handlers of the
 * application come first. The lock exception may be inside an exception that only
 * transports it from another thread or through a proxy; any other exception with such a
 * cause is the application's own and stays as it is.
 * <p>
 * Lost locks are not handled: the work may have taken effect, so that neither answer is
 * true.
 *
 * @since 0.1.0
 */
@ControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
public class LockExceptionHandler {

	/** The property of an answer that has the id of the error, such as {@code DL-101}. */
	public static final String CODE = "code";

	private static final Log logger = LogFactory.getLog(LockExceptionHandler.class);

	/** Creates a handler. */
	public LockExceptionHandler() {
	}

	/**
	 * Answers an exception, if it is one of a lock.
	 * @param thrown the exception that left the controller
	 * @return the answer
	 * @throws Throwable the same exception, if it only has an exception of a lock among
	 * its causes
	 */
	@ExceptionHandler({ LockNotAcquiredException.class, LockProviderException.class })
	public ResponseEntity<ProblemDetail> handle(Throwable thrown) throws Throwable {
		Throwable transported = transported(thrown);
		if (transported instanceof LockNotAcquiredException busy) {
			return busy(busy);
		}
		if (transported instanceof LockProviderException failure) {
			return unavailable(failure);
		}
		throw thrown;
	}

	private static Throwable transported(Throwable thrown) {
		Throwable transported = thrown;
		while (isTransport(transported) && transported.getCause() != null) {
			transported = transported.getCause();
		}
		return transported;
	}

	private static boolean isTransport(Throwable ex) {
		return ex instanceof CompletionException || ex instanceof ExecutionException
				|| ex instanceof UndeclaredThrowableException || ex instanceof InvocationTargetException;
	}

	/**
	 * Logs at DEBUG, as for a method that is skipped: contention is no fault, the client
	 * is told, meters count it, and clients could fill the log.
	 */
	private static ResponseEntity<ProblemDetail> busy(LockNotAcquiredException ex) {
		if (logger.isDebugEnabled()) {
			logger.debug(oneLine(ex));
		}
		LockHolder holder = ex.holder();
		Duration remaining = (holder != null) ? holder.remaining() : null;
		return answer(HttpStatus.CONFLICT, "Another operation is in progress that excludes this one. Try again later.",
				ex, remaining);
	}

	/** Logs at WARN; a shutdown, which is part of each roll-out, at INFO. */
	private static ResponseEntity<ProblemDetail> unavailable(LockProviderException ex) {
		if (ex.error() == LockError.SHUTTING_DOWN) {
			logger.info(oneLine(ex));
		}
		else {
			logger.warn(oneLine(ex));
		}
		return answer(HttpStatus.SERVICE_UNAVAILABLE, "The operation is not available at present. Try again later.", ex,
				null);
	}

	/** The words of a server may have several lines. */
	private static String oneLine(LockException ex) {
		return String.valueOf(ex.getMessage()).lines().map(String::strip).collect(Collectors.joining(" "));
	}

	/**
	 * Makes an answer.
	 * @param retryAfter when the client may try again, or {@code null} if not known
	 */
	private static ResponseEntity<ProblemDetail> answer(HttpStatus status, String detail, LockException ex,
			@Nullable Duration retryAfter) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
		problem.setProperty(CODE, ex.id());
		ResponseEntity.BodyBuilder answer = ResponseEntity.status(status);
		if (retryAfter != null) {
			answer.header(HttpHeaders.RETRY_AFTER, Long.toString(wholeSeconds(retryAfter)));
		}
		return answer.body(problem);
	}

	private static long wholeSeconds(Duration time) {
		return Math.max(1, time.toSeconds() + ((time.toNanosPart() > 0) ? 1 : 0));
	}

}
