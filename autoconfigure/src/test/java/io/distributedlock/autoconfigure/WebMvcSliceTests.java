package io.distributedlock.autoconfigure;

import org.junit.jupiter.api.Tag;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import static org.assertj.core.api.Assertions.assertThat;

@WebMvcTest(properties = "spring.mvc.problemdetails.enabled=true")
@Tag("full")
class WebMvcSliceTests extends AbstractWebSliceTests {

	@Autowired
	private MockMvcTester mvc;

	@Override
	void expectBusy(String path) {
		assertThat(this.mvc.get().uri(path)).hasStatus(409).bodyJson().extractingPath("$.code").isEqualTo("DL-101");
	}

}
