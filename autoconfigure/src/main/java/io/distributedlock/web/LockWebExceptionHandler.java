package io.distributedlock.web;

import java.util.List;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import org.springframework.core.Ordered;
import org.springframework.web.reactive.DispatchExceptionHandler;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.reactive.HandlerResultHandler;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;

/**
 * Handler of lock exceptions that no handler of a WebFlux application has handled. It
 * answers with the application's handler of {@link ResponseStatusException}, such as the
 * one of {@code spring.webflux.problemdetails.enabled}, and without one leaves that
 * exception to the handlers after it, such as Spring Boot's.
 *
 * @since 0.1.0
 */
public final class LockWebExceptionHandler implements WebExceptionHandler, Ordered {

	/** Before Spring Boot's handler, which answers each exception. */
	private static final int ORDER = -2;

	private final @Nullable DispatchExceptionHandler handlers;

	private final List<HandlerResultHandler> results;

	/**
	 * Creates a handler.
	 * @param handlers what asks the methods with {@code @ExceptionHandler}, or
	 * {@code null} if the application has none
	 * @param results the handlers of the results of such methods, in their order
	 */
	public LockWebExceptionHandler(@Nullable DispatchExceptionHandler handlers, List<HandlerResultHandler> results) {
		this.handlers = handlers;
		this.results = List.copyOf(results);
	}

	@Override
	public int getOrder() {
		return ORDER;
	}

	@Override
	public Mono<Void> handle(ServerWebExchange exchange, Throwable ex) {
		LockResponseStatusException answer = exchange.getResponse().isCommitted() ? null
				: LockResponseStatusException.of(ex);
		if (answer == null) {
			return Mono.error(ex);
		}
		exchange.getResponse().getHeaders().putAll(answer.getHeaders());
		return (this.handlers == null) ? Mono.error(answer)
				: this.handlers.handleError(exchange, answer).flatMap((result) -> write(exchange, result));
	}

	private Mono<Void> write(ServerWebExchange exchange, HandlerResult result) {
		return this.results.stream()
			.filter((handler) -> handler.supports(result))
			.findFirst()
			.map((handler) -> handler.handleResult(exchange, result))
			.orElseGet(Mono::empty);
	}

}
