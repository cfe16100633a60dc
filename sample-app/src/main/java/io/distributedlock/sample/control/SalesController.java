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

import io.distributedlock.sample.SaleSettings;
import io.distributedlock.sample.SampleApplication;

/**
 * Endpoints that start sales and show their results.
 */
@RestController
@RequestMapping("/api")
@Profile("!" + SampleApplication.WORKER)
class SalesController {

	private static final Duration MAX_THINK_TIME = Duration.ofSeconds(5);

	private static final Duration MIN_LEASE = Duration.ofSeconds(1);

	private static final Duration MAX_LEASE = Duration.ofMinutes(1);

	private static final int MAX_SEATS = 1000;

	private final SalesRuns runs;

	private final WorkerPool workers;

	private final SaleDefaults defaults;

	SalesController(SalesRuns runs, WorkerPool workers, SaleDefaults defaults) {
		this.runs = runs;
		this.workers = workers;
		this.defaults = defaults;
	}

	/** Sells all seats of a new event; what is not asked for is as configured. */
	@PostMapping("/sales")
	SalesResult sell(@RequestParam boolean lock, @RequestParam(defaultValue = "on") boolean fence,
			@RequestParam(defaultValue = "on") boolean renew,
			@RequestParam(required = false) @DurationFormat(
					style = DurationFormat.Style.SIMPLE) @Nullable Duration lease,
			@RequestParam(name = "think-time",
					required = false) @DurationFormat(style = DurationFormat.Style.SIMPLE) @Nullable Duration thinkTime,
			@RequestParam(required = false) @Nullable Integer seats) {
		return this.runs.run(new SaleSettings(lock, fence, renew,
				within("lease", (lease != null) ? lease : this.defaults.lease(), MIN_LEASE, MAX_LEASE),
				within("think time", (thinkTime != null) ? thinkTime : this.defaults.thinkTime(), Duration.ZERO,
						MAX_THINK_TIME),
				within("number of seats", (seats != null) ? seats : this.defaults.seats(), 1, MAX_SEATS)));
	}

	private static <T extends Comparable<T>> T within(String name, T value, T least, T most) {
		if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
					"The " + name + " has to be " + least + " to " + most + ", not " + value);
		}
		return value;
	}

	/** Answers with the holder of the lock, or with no content if there is none. */
	@GetMapping("/holder")
	ResponseEntity<LaneView> holder() {
		return this.workers.findHolder()
			.map((worker) -> worker.view(0))
			.filter((lane) -> lane.token() != null)
			.map(ResponseEntity::ok)
			.orElseGet(() -> ResponseEntity.noContent().build());
	}

	@GetMapping("/status")
	Map<String, SalesResult> status() {
		return this.runs.latest();
	}

}
