package io.distributedlock.sample;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.distributedlock.sample.Sales.Holder;

import static org.assertj.core.api.Assertions.assertThat;

/** A running sale whose worker that holds the lock is killed or paused. */
@Tag("full")
class KilledAndFrozenWorkersTests {

	private static final Duration LEASE = Duration.ofSeconds(3);

	private static final int FREEZE_SECONDS = 8;

	private static final int SEATS = 8;

	private static ControlProcess control;

	private static Sales sales;

	private static Actuators actuators;

	@BeforeAll
	static void start(@TempDir Path directory) throws IOException {
		control = new ControlProcess(directory,
				Map.of("DISTRIBUTEDLOCK_LEASE", LEASE.toSeconds() + "s", "SAMPLE_CAPACITY", Integer.toString(SEATS)));
		sales = new Sales(control, SEATS);
		actuators = new Actuators(control, sales);
	}

	@BeforeEach
	void replaceDeadWorkers() throws Exception {
		sales.replaceDeadWorkers();
	}

	@AfterAll
	static void stoppingEndsFrozenWorkersToo() throws Exception {
		try (ControlProcess stopped = control) {
			assertThat(sales.inflict(new Holder(sales.processes().get(0), 0), "freeze?seconds=120"))
				.isEqualTo("frozen");
			stopped.stop();
			stopped.awaitEnd();
		}
	}

	@Test
	void killedHolderIsSucceededAfterItsLeaseWithAHigherToken() throws Exception {
		sales.assertKilledHolderIsSucceeded(LEASE);
	}

	@Test
	void lateWriteOfAFrozenHolderIsRefused() throws Exception {
		sales.assertLateWriteOfAFrozenHolderIsRefused(FREEZE_SECONDS);
	}

	@Test
	void lateWriteOfAFrozenHolderOversellsWithoutFencing() throws Exception {
		sales.assertLateWriteWithoutFencingOversells(FREEZE_SECONDS);
	}

	@Test
	void replacesKilledWorkersBeforeTheNextSale() throws Exception {
		long killed = sales.processes().get(0);
		assertThat(sales.inflict(new Holder(killed, 0), "kill")).isEqualTo("dead");
		assertThat(control.post("/api/sales?lock=on").get("sold").asInt()).isEqualTo(SEATS);
		assertThat(sales.processes()).hasSize(3).doesNotContain(killed);
	}

	@Test
	void restartsAWorkerOnceForTwoRequests() throws Exception {
		long former = sales.processes().get(0);
		String path = new Holder(former, 0).path("restart");
		CompletableFuture<Integer> other = CompletableFuture.supplyAsync(() -> status(path));
		assertThat(List.of(status(path), other.get(3, TimeUnit.MINUTES))).contains(200).containsAnyOf(404, 409);
		assertThat(sales.processes()).hasSize(3).doesNotContain(former);
		assertThat(control.children()).containsExactlyInAnyOrderElementsOf(sales.processes());
	}

	private static int status(String path) {
		try {
			return control.answerToPost(path).statusCode();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void touchesNoProcessButItsWorkers() throws Exception {
		for (long pid : new long[] { control.pid(), ProcessHandle.current().pid(), -1 }) {
			for (String fault : new String[] { "kill", "freeze?seconds=1" }) {
				assertThat(control.answerToPost("/api/workers/" + pid + "/" + fault)).satisfies((answer) -> {
					assertThat(answer.statusCode()).isEqualTo(404);
					assertThat(answer.body()).contains("Process " + pid + " is not one of the workers");
				});
			}
		}
	}

	@Test
	void freezesFromOneSecondToTwoMinutes() throws Exception {
		Holder worker = new Holder(sales.processes().get(0), 0);
		for (String seconds : new String[] { "0", "-1", "121", "9223372036854775807", "1.5", "" }) {
			assertThat(control.answerToPost(worker.path("freeze?seconds=" + seconds)).statusCode()).as(seconds)
				.isEqualTo(400);
		}
		assertThat(control.answerToPost(worker.path("freeze")).statusCode()).isEqualTo(400);
		assertThat(sales.states()).doesNotContain("frozen", "dead");
	}

	@Test
	void refusesPagesOfOtherSites() throws Exception {
		Holder worker = new Holder(sales.processes().get(0), 0);
		assertThat(control.answerToPost(worker.path("kill"), "Origin", "http://other.example").statusCode())
			.isEqualTo(403);
		assertThat(sales.processes()).contains(worker.pid());
		actuators.assertPagesOfOtherSitesAreRefused();
	}

	@Test
	void actuatorAnswersWhileALockIsHeldAndWaitedFor() {
		actuators.assertAnswersWhileALockIsHeldAndWaitedFor();
	}

	@Test
	void actuatorHasEveryMetricOfDashboardAndAlerts() throws Exception {
		actuators.assertEveryMonitoredMetricIsScraped(FREEZE_SECONDS);
	}

	@Test
	void controlProcessIsHealthy() throws Exception {
		assertThat(control.get("/actuator/health").path("status").asString()).isEqualTo("UP");
	}

}
