package io.distributedlock.sample.control;

import java.time.Duration;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Profile;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.SampleProperties;

/**
 * Endpoints that start sales and show their results.
 */
@RestController
@RequestMapping("/api")
@Profile("!" + SampleApplication.WORKER)
class SalesController {

	private static final Duration MAX_THINK_TIME = Duration.ofSeconds(5);

	private final SalesRuns runs;

	private final CurrentHolder holder;

	private final Duration thinkTime;

	SalesController(SalesRuns runs, CurrentHolder holder, SampleProperties properties) {
		this.runs = runs;
		this.holder = holder;
		this.thinkTime = properties.thinkTime();
	}

	@PostMapping("/sales")
	SalesResult sell(@RequestParam boolean lock, @RequestParam(name = "think-time",
			required = false) @DurationFormat(style = DurationFormat.Style.SIMPLE) @Nullable Duration thinkTime) {
		Duration chosen = (thinkTime != null) ? thinkTime : this.thinkTime;
		if (chosen.isNegative() || chosen.compareTo(MAX_THINK_TIME) > 0) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
					"The think time has to be 0s to 5s, not " + chosen);
		}
		return this.runs.run(lock, chosen);
	}

	/** Answers with the holder of the lock, or with no content if there is none. */
	@GetMapping("/holder")
	ResponseEntity<HoldingProcess> holder() {
		return this.holder.find().map(ResponseEntity::ok).orElseGet(() -> ResponseEntity.noContent().build());
	}

	@GetMapping("/status")
	Map<String, SalesResult> status() {
		return this.runs.latest();
	}

}
