package io.distributedlock.sample.control;

import java.net.http.HttpClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Profile;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientException;

import io.distributedlock.sample.SampleApplication;

/**
 * Endpoints with the figures of all workers, gathered from their actuators.
 */
@RestController
@Profile("!" + SampleApplication.WORKER)
class FiguresController {

	/** A frozen worker does not answer. */
	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private static final String WAIT = "distributed_lock_acquire_seconds_";

	private static final String ACQUIRED = "outcome=\"acquired\"";

	private final WorkerPool workers;

	private final RestClient http;

	FiguresController(WorkerPool workers) {
		this.workers = workers;
		JdkClientHttpRequestFactory requests = new JdkClientHttpRequestFactory(
				HttpClient.newBuilder().connectTimeout(TIMEOUT).build());
		requests.setReadTimeout(TIMEOUT);
		this.http = RestClient.builder().requestFactory(requests).build();
	}

	/** Answers with a row for each lane. */
	@GetMapping("/api/figures")
	List<Row> gather() {
		return this.workers.all().stream().map(this::row).toList();
	}

	/** Answers as Prometheus expects it of its service discovery over HTTP. */
	@GetMapping("/api/prometheus-targets")
	List<Target> targets() {
		return this.workers.all()
			.stream()
			.filter((worker) -> worker.isAlive() && worker.isReady())
			.map((worker) -> new Target(List.of("127.0.0.1:" + worker.port()),
					Map.of("worker", Integer.toString(worker.lane()))))
			.toList();
	}

	private Row row(Worker worker) {
		String actuator = worker.isAlive() ? worker.actuator() : null;
		if (actuator == null || worker.process().isFrozen()) {
			return Row.unknown(worker.lane(), actuator);
		}
		try {
			String scrape = Objects
				.requireNonNull(this.http.get().uri(actuator + "/prometheus").retrieve().body(String.class));
			double acquired = sum(scrape, WAIT + "count", ACQUIRED);
			double meanWait = (acquired > 0) ? sum(scrape, WAIT + "sum", ACQUIRED) / acquired : 0;
			return new Row(worker.lane(), actuator, (long) acquired, Math.round(meanWait * 1000),
					(long) sum(scrape, "distributed_lock_renewals_total", "outcome=\"renewed\""),
					(long) sum(scrape, "distributed_lock_lost_total", ""));
		}
		catch (RestClientException ex) {
			return Row.unknown(worker.lane(), actuator);
		}
	}

	/** Adds up the samples of a metric that have the label. */
	static double sum(String scrape, String metric, String label) {
		return scrape.lines()
			.filter((line) -> line.startsWith(metric + "{") && line.contains(label))
			.mapToDouble(
					(line) -> Double.parseDouble(line.substring(line.lastIndexOf('}') + 1).strip().split(" ", 2)[0]))
			.sum();
	}

	/**
	 * Figures of one worker since its start, {@code null} while it does not answer.
	 *
	 * @param worker its lane
	 * @param actuator the address of its actuator
	 * @param acquired how many locks it has acquired
	 * @param meanWaitMillis how long it waited for them on average
	 * @param renewed how many renewals succeeded
	 * @param lost how many locks it lost
	 */
	record Row(int worker, @Nullable String actuator, @Nullable Long acquired, @Nullable Long meanWaitMillis,
			@Nullable Long renewed, @Nullable Long lost) {

		static Row unknown(int worker, @Nullable String actuator) {
			return new Row(worker, actuator, null, null, null, null);
		}

	}

	/**
	 * A worker as Prometheus reads it.
	 *
	 * @param targets its address
	 * @param labels the labels of its figures
	 */
	record Target(List<String> targets, Map<String, String> labels) {

	}

}
