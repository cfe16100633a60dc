package io.distributedlock.sample;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.servlet.handler.MappedInterceptor;

/**
 * Configuration of the guards of requests in the control process and in the workers.
 */
@Configuration(proxyBeanMethods = false)
class WebConfiguration {

	/**
	 * Guards every path. As a bean it also applies to the actuator, whose endpoints do
	 * not know the interceptors of Spring MVC's configuration.
	 */
	@Bean
	static MappedInterceptor loopbackOnly() {
		return new MappedInterceptor(null, new LoopbackOnly());
	}

	@Bean
	static MappedInterceptor pageHeaders() {
		return new MappedInterceptor(null, new PageHeaders());
	}

}
