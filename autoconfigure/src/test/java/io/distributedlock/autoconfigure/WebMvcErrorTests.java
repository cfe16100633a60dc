package io.distributedlock.autoconfigure;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("full")
class WebMvcErrorTests extends AbstractWebErrorTests {

	WebMvcErrorTests() {
		super(WebApplicationType.SERVLET, Tomcat.class);
	}

	@Test
	void functionalEndpointIsAnsweredAsAControllerIs() throws Exception {
		assertThat(get(start(Shop.class), "/functional").statusCode()).isEqualTo(409);
	}

	@Configuration(proxyBeanMethods = false)
	static class Tomcat {

		@Bean
		RouterFunction<ServerResponse> functional() {
			return RouterFunctions.route().GET("/functional", (request) -> {
				throw AbstractWebErrorTests.busy();
			}).build();
		}

		@Bean
		TomcatServletWebServerFactory server() {
			return new TomcatServletWebServerFactory();
		}

	}

}
