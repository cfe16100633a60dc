package io.distributedlock.autoconfigure;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

class WebFluxErrorTests extends AbstractWebErrorTests {

	WebFluxErrorTests() {
		super(WebApplicationType.REACTIVE, Netty.class);
	}

	@Configuration(proxyBeanMethods = false)
	static class Netty {

		@Bean
		NettyReactiveWebServerFactory server() {
			return new NettyReactiveWebServerFactory();
		}

	}

}
