package io.distributedlock.sample.control;

import java.util.Map;

import org.springframework.context.annotation.Profile;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import io.distributedlock.sample.SampleApplication;

/**
 * Starts sales and shows their results.
 */
@RestController
@RequestMapping("/api")
@Profile("!" + SampleApplication.WORKER)
class SalesController {

	private final SalesRuns runs;

	SalesController(SalesRuns runs) {
		this.runs = runs;
	}

	@PostMapping("/sales")
	SalesResult sell(@RequestParam boolean lock) {
		return this.runs.run(lock);
	}

	@GetMapping("/status")
	Map<String, SalesResult> status() {
		return this.runs.latest();
	}

}
