package io.distributedlock.sample.control;

import org.springframework.context.annotation.Profile;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.support.ServletUriComponentsBuilder;

import io.distributedlock.sample.SampleApplication;

/**
 * Shows the overview to a browser.
 */
@RestController
@Profile("!" + SampleApplication.WORKER)
class OverviewController {

	private final SalesRuns runs;

	private final WorkerController workers;

	OverviewController(SalesRuns runs, WorkerController workers) {
		this.runs = runs;
		this.workers = workers;
	}

	@GetMapping(path = "/", produces = MediaType.TEXT_HTML_VALUE + ";charset=UTF-8")
	String overview() {
		String server = ServletUriComponentsBuilder.fromCurrentContextPath().toUriString();
		return new OverviewPage(server, this.runs.latest(), this.workers.workers()).html();
	}

}
