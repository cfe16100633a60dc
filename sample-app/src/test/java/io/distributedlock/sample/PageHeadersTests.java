package io.distributedlock.sample;

import org.junit.jupiter.api.Test;

import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;

class PageHeadersTests {

	@Test
	void pageMayLoadFromItsOwnServerOnly() {
		MockHttpServletResponse response = new MockHttpServletResponse();
		assertThat(new PageHeaders().preHandle(new MockHttpServletRequest(), response, this)).isTrue();
		assertThat(response.getHeader("Content-Security-Policy")).startsWith("default-src 'none';")
			.contains("script-src 'self'", "frame-ancestors 'none'")
			.doesNotContain("http", "unsafe");
	}

}
