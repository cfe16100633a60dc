package io.distributedlock.sample;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;

import io.distributedlock.sample.Sales.Holder;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The actuators of a running sample's workers: what operators see of a sale.
 */
class Actuators {

	private static final String LOCK = "lock_name=\"seats\"";

	private final ControlProcess control;

	private final Sales sales;

	Actuators(ControlProcess control, Sales sales) {
		this.control = control;
		this.sales = sales;
	}

	/** Repeats a sale until the processes were asked while they held and waited. */
	void assertAnswersWhileALockIsHeldAndWaitedFor() {
		Awaitility.await().atMost(Duration.ofMinutes(3)).untilAsserted(() -> assertThat(asksDuringASale()).isTrue());
	}

	private boolean asksDuringASale() throws Exception {
		CompletableFuture<JsonNode> sale = this.sales.begin();
		WorkerActuator holder = worker(this.sales.awaitNewHolder());
		try {
			boolean seen = holder.sum("distributed_lock_hold_active_seconds_count", LOCK) == 1;
			for (WorkerActuator worker : WorkerActuator.all(this.control)) {
				seen &= worker.sum("distributed_lock_acquire_active_seconds_count", LOCK) > 0;
			}
			assertHealthIsUp(holder);
			assertThat(holder.answer("/distributedlocks").body()).contains("seats");
			assertAcquisitionsAreTimed(holder);
			return seen;
		}
		finally {
			sale.get(3, TimeUnit.MINUTES);
		}
	}

	private static void assertHealthIsUp(WorkerActuator worker) throws Exception {
		JsonNode health = worker.get("/health");
		assertThat(health.path("status").asString()).as(health.toString()).isEqualTo("UP");
		assertThat(health.at("/components/distributedlocks/status").asString("missing")).as(health.toString())
			.isEqualTo("UP");
	}

	private static void assertAcquisitionsAreTimed(WorkerActuator worker) throws Exception {
		JsonNode timer = worker.get("/metrics/distributed.lock.acquire?tag=lock.name:seats&tag=outcome:acquired");
		assertThat(timer.path("baseUnit").asString("missing")).as(timer.toString()).isEqualTo("seconds");
		assertThat(timer.path("measurements").valueStream()).anySatisfy((measurement) -> {
			assertThat(measurement.path("statistic").asString()).isEqualTo("COUNT");
			assertThat(measurement.path("value").asDouble()).isPositive();
		});
	}

	/** Loses a lock, and looks for all that dashboard and alerts ask Prometheus for. */
	void assertEveryMonitoredMetricIsScraped(int freezeSeconds) throws Exception {
		Awaitility.await().atMost(Duration.ofMinutes(3)).until(() -> losesALock(freezeSeconds), (lost) -> lost);
		List<String> samples = new ArrayList<>();
		for (WorkerActuator worker : WorkerActuator.all(this.control)) {
			samples.addAll(worker.scrape());
		}
		List<String> queries = Stream
			.concat(MonitoringQueries.dashboard().stream(), MonitoringQueries.alerts().stream())
			.toList();
		assertThat(MonitoringQueries.metrics(queries)).hasSizeGreaterThan(10)
			.filteredOn((metric) -> samples.stream().noneMatch((sample) -> sample.startsWith(metric + "{")))
			.isEmpty();
		assertThat(MonitoringQueries.labelledMetrics(queries)).hasSizeGreaterThan(2)
			.filteredOn((labelled) -> samples.stream().noneMatch((sample) -> labelled.isIn(sample)))
			.isEmpty();
	}

	/** Freezes a holder past its lease, if the signal comes before it has released. */
	private boolean losesALock(int freezeSeconds) throws Exception {
		CompletableFuture<JsonNode> sale = this.sales.begin();
		Holder holder = this.sales.awaitNewHolder();
		assertThat(this.sales.inflict(holder, "freeze?seconds=" + freezeSeconds)).isEqualTo("frozen");
		sale.get(3, TimeUnit.MINUTES);
		return worker(holder).sum("distributed_lock_lost_total", "reason=\"expired\"") > 0;
	}

	void assertPagesOfOtherSitesAreRefused() throws Exception {
		WorkerActuator worker = WorkerActuator.all(this.control).get(0);
		for (String path : List.of("", "/health", "/prometheus", "/no-endpoint")) {
			assertThat(worker.answer(path, "Origin", "http://other.example").statusCode()).as(path).isEqualTo(403);
		}
	}

	private WorkerActuator worker(Holder holder) throws Exception {
		return WorkerActuator.all(this.control)
			.stream()
			.filter((worker) -> worker.pid() == holder.pid())
			.findFirst()
			.orElseThrow();
	}

}
