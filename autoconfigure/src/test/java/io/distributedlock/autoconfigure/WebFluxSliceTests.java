package io.distributedlock.autoconfigure;

import org.junit.jupiter.api.Tag;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webflux.test.autoconfigure.WebFluxTest;
import org.springframework.test.web.reactive.server.WebTestClient;

@WebFluxTest(properties = "spring.webflux.problemdetails.enabled=true")
@Tag("full")
class WebFluxSliceTests extends AbstractWebSliceTests {

	@Autowired
	private WebTestClient client;

	@Override
	void expectBusy(String path) {
		this.client.get()
			.uri(path)
			.exchange()
			.expectStatus()
			.isEqualTo(409)
			.expectBody()
			.jsonPath("$.code")
			.isEqualTo("DL-101");
	}

}
