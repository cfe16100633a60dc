package io.distributedlock.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.reactive.HandlerResultHandler;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerExceptionResolver;

import io.distributedlock.web.LockHandlerExceptionResolver;
import io.distributedlock.web.LockWebExceptionHandler;

/**
 * Auto-configuration for the answers of web applications to exceptions of locks.
 *
 * @since 0.1.0
 */
@AutoConfiguration
@ConditionalOnBooleanProperty(name = "distributed-lock.web.enabled", matchIfMissing = true)
public final class LockWebAutoConfiguration {

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(DispatcherServlet.class)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
	static class MvcConfiguration {

		@Bean
		LockHandlerExceptionResolver distributedLockHandlerExceptionResolver(
				@Qualifier(DispatcherServlet.HANDLER_EXCEPTION_RESOLVER_BEAN_NAME) ObjectProvider<HandlerExceptionResolver> resolvers) {
			return new LockHandlerExceptionResolver(resolvers.stream());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(DispatcherHandler.class)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
	static class WebFluxConfiguration {

		@Bean
		LockWebExceptionHandler distributedLockWebExceptionHandler(
				ObjectProvider<RequestMappingHandlerAdapter> handlers, ObjectProvider<HandlerResultHandler> results) {
			return new LockWebExceptionHandler(handlers.getIfUnique(), results.orderedStream().toList());
		}

	}

}
