package io.distributedlock.web;

import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.handler.HandlerExceptionResolverComposite;
import org.springframework.web.servlet.mvc.method.annotation.ExceptionHandlerExceptionResolver;

/**
 * Resolver of lock exceptions that no handler of a Spring MVC application has handled. It
 * answers with the application's handler of {@link ResponseStatusException}, such as the
 * one of {@code spring.mvc.problemdetails.enabled}, and without one by
 * {@link HttpServletResponse#sendError(int)}.
 *
 * @since 0.1.0
 */
public final class LockHandlerExceptionResolver implements HandlerExceptionResolver, Ordered {

	private final List<HandlerExceptionResolver> handlers;

	/**
	 * Creates a resolver.
	 * @param resolvers the resolvers of Spring MVC, whose methods with
	 * {@code @ExceptionHandler} are asked
	 */
	public LockHandlerExceptionResolver(Stream<HandlerExceptionResolver> resolvers) {
		this.handlers = resolvers
			.flatMap((resolver) -> (resolver instanceof HandlerExceptionResolverComposite composite)
					? composite.getExceptionResolvers().stream() : Stream.of(resolver))
			.filter(ExceptionHandlerExceptionResolver.class::isInstance)
			.toList();
	}

	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE;
	}

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		LockResponseStatusException answer = response.isCommitted() ? null : LockResponseStatusException.of(ex);
		if (answer == null) {
			return null;
		}
		for (HandlerExceptionResolver candidate : this.handlers) {
			ModelAndView resolved = candidate.resolveException(request, response, handler, answer);
			if (resolved != null) {
				return resolved;
			}
		}
		return send(answer, response);
	}

	/** Leaves out Spring's resolver of such exceptions: it logs each at WARN. */
	private static @Nullable ModelAndView send(LockResponseStatusException answer, HttpServletResponse response) {
		answer.getHeaders().forEach((name, values) -> response.setHeader(name, values.get(0)));
		try {
			response.sendError(answer.getStatusCode().value(), answer.getReason());
			return new ModelAndView();
		}
		catch (IOException ex) {
			return null;
		}
	}

}
