package io.distributedlock.autoconfigure;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

class WebMvcErrorTests extends AbstractWebErrorTests {

	WebMvcErrorTests() {
		super(WebApplicationType.SERVLET, Tomcat.class);
	}

	@Configuration(proxyBeanMethods = false)
	static class Tomcat {

		@Bean
		TomcatServletWebServerFactory server() {
			return new TomcatServletWebServerFactory();
		}

	}

}
