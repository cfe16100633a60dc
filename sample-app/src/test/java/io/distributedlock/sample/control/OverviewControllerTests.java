package io.distributedlock.sample.control;

import java.net.URI;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import io.distributedlock.sample.control.WorkerController.WorkerState;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

class OverviewControllerTests {

	private final SalesRuns runs = mock(SalesRuns.class);

	private final WorkerController workers = mock(WorkerController.class);

	private final MockMvcTester browser = MockMvcTester.of(new OverviewController(this.runs, this.workers));

	@Test
	void showsLatestResultsAndWorkers() {
		given(this.runs.latest()).willReturn(Map.of("off", new SalesResult(193, 243, 50, 7, List.of(4711L, 4712L))));
		given(this.workers.workers())
			.willReturn(List.of(new WorkerState(4711, "frozen", "http://127.0.0.1:4712/actuator")));
		assertThat(page("http://localhost:8080/"))
			.contains("<td>off</td><td>50</td><td>243</td><td>193</td><td>7</td><td>4711, 4712</td>")
			.contains("<td>4711</td><td>frozen</td><td>http://127.0.0.1:4712/actuator</td>")
			.doesNotContain("<td>on</td>");
	}

	@Test
	void listsEachCommandWithTheServersAddress() {
		assertThat(page("http://127.0.0.1:9090/")).contains("curl -s &#39;http://127.0.0.1:9090/api/status&#39;")
			.contains("curl -s -X POST &#39;http://127.0.0.1:9090/api/sales?lock=on&amp;think-time=300ms&#39;")
			.contains("/api/sales?lock=off&#39;", "/api/holder&#39;", "/api/workers&#39;", "/api/workers/PID/kill&#39;",
					"/api/workers/PID/freeze?seconds=15&#39;");
	}

	@Test
	void escapesValues() {
		given(this.workers.workers()).willReturn(List.of(new WorkerState(1, "<script>&", null)));
		assertThat(page("http://localhost/")).contains("<td>&lt;script&gt;&amp;</td>").doesNotContain("<script");
	}

	@Test
	void loadsNothingFromElsewhere() {
		assertThat(page("http://localhost/")).doesNotContain("src=", "@import", "https://");
	}

	private String page(String address) {
		return assertThat(this.browser.get().uri(URI.create(address))).hasStatusOk()
			.hasContentTypeCompatibleWith(MediaType.TEXT_HTML)
			.bodyText()
			.actual();
	}

}
