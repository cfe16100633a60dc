package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("full")
class WebFluxErrorTests extends AbstractWebErrorTests {

	WebFluxErrorTests() {
		super(WebApplicationType.REACTIVE, Netty.class);
	}

	@Test
	void functionalEndpointIsAnsweredAsAControllerIs() throws Exception {
		assertThat(get(start(Shop.class), "/functional").statusCode()).isEqualTo(409);
	}

	@Configuration(proxyBeanMethods = false)
	static class Netty {

		@Bean
		RouterFunction<ServerResponse> functional() {
			return RouterFunctions.route()
				.GET("/functional", (request) -> Mono.error(AbstractWebErrorTests.busy()))
				.build();
		}

		/** Ends its threads at once: by default they wait two seconds for work. */
		@Bean
		ReactorResourceFactory resources() {
			ReactorResourceFactory resources = new ReactorResourceFactory();
			resources.setUseGlobalResources(false);
			resources.setShutdownQuietPeriod(Duration.ZERO);
			return resources;
		}

		@Bean
		NettyReactiveWebServerFactory server(ReactorResourceFactory resources) {
			NettyReactiveWebServerFactory factory = new NettyReactiveWebServerFactory();
			factory.setResourceFactory(resources);
			return factory;
		}

	}

}
