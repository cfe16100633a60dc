package io.distributedlock.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What happens to a sale under way when the worker that holds the lock is killed or
 * paused. Customers think long enough for a signal to reach the holder in that time.
 */
@Timeout(60)
class KilledAndFrozenWorkersTests {

	private static final Duration LEASE = Duration.ofSeconds(2);

	private static final int FREEZE_SECONDS = 7;

	private static final int SEATS = 8;

	private static final Holder NOBODY = new Holder(0, 0);

	private static ControlProcess control;

	@BeforeAll
	static void start(@TempDir Path directory) throws IOException {
		control = new ControlProcess(directory,
				Map.of("DISTRIBUTEDLOCK_LEASE", LEASE.toSeconds() + "s", "SAMPLE_CAPACITY", Integer.toString(SEATS)));
	}

	@AfterAll
	static void stoppingEndsFrozenWorkersToo() throws Exception {
		try (ControlProcess stopped = control) {
			assertThat(inflict(new Holder(processes().get(0), 0), "freeze?seconds=120")).isEqualTo("frozen");
			stopped.stop();
			stopped.awaitEnd();
		}
	}

	@Test
	void killedHolderIsSucceededAfterItsLeaseByAnotherProcessWithAHigherToken() throws Exception {
		CompletableFuture<JsonNode> sale = beginSale();
		Holder killed = awaitNewHolder();
		long killedAt = System.nanoTime();
		assertThat(inflict(killed, "kill")).isEqualTo("ended");
		Holder successor = awaitHolder((holder) -> holder.pid() != killed.pid());
		Duration vacancy = Duration.ofNanos(System.nanoTime() - killedAt);
		assertThat(successor.token()).isGreaterThan(killed.token());
		assertThat(vacancy).isBetween(LEASE.dividedBy(2), LEASE.plusSeconds(3));
		assertThat(processes()).hasSize(2).doesNotContain(killed.pid());
		assertEachSeatSoldOnce(sale, 0);
	}

	@Test
	void lateWriteOfAFrozenHolderIsRefused() throws Exception {
		CompletableFuture<JsonNode> sale = beginSale();
		Holder frozen = awaitNewHolder();
		assertThat(inflict(frozen, "freeze?seconds=" + FREEZE_SECONDS)).isEqualTo("frozen");
		assertThat(Files.readString(Path.of("/proc", Long.toString(frozen.pid()), "stat"))).contains(") T ");
		Holder successor = awaitHolder((holder) -> holder.pid() != frozen.pid());
		assertThat(successor.token()).isGreaterThan(frozen.token());
		assertThat(control.answerToPost(path(frozen, "freeze?seconds=1")).statusCode()).isEqualTo(409);
		assertEachSeatSoldOnce(sale, 1);
		assertThat(processes()).contains(frozen.pid());
		assertThat(control.console()).contains("late writes refused: 1");
	}

	@Test
	void replacesKilledWorkersBeforeTheNextSale() throws Exception {
		long killed = processes().get(0);
		assertThat(inflict(new Holder(killed, 0), "kill")).isEqualTo("ended");
		assertThat(control.post("/api/sales?lock=on").get("sold").asInt()).isEqualTo(SEATS);
		assertThat(processes()).hasSize(3).doesNotContain(killed);
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
		Holder worker = new Holder(processes().get(0), 0);
		for (String seconds : new String[] { "0", "-1", "121", "9223372036854775807", "1.5", "" }) {
			assertThat(control.answerToPost(path(worker, "freeze?seconds=" + seconds)).statusCode()).as(seconds)
				.isEqualTo(400);
		}
		assertThat(control.answerToPost(path(worker, "freeze")).statusCode()).isEqualTo(400);
		assertThat(states()).containsOnly("running");
	}

	@Test
	void refusesPagesOfOtherSites() throws Exception {
		Holder worker = new Holder(processes().get(0), 0);
		assertThat(control.answerToPost(path(worker, "kill"), "Origin", "http://other.example").statusCode())
			.isEqualTo(403);
		assertThat(processes()).contains(worker.pid());
	}

	private static CompletableFuture<JsonNode> beginSale() {
		return CompletableFuture.supplyAsync(() -> {
			try {
				return control.post("/api/sales?lock=on&think-time=750ms");
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		});
	}

	/** A holder whose customer has only begun to think. */
	private static Holder awaitNewHolder() {
		Holder first = awaitHolder((holder) -> true);
		return awaitHolder((holder) -> holder.token() > first.token());
	}

	private static Holder awaitHolder(Predicate<Holder> condition) {
		return Awaitility.await()
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(10))
			.atMost(Duration.ofSeconds(20))
			.until(KilledAndFrozenWorkersTests::holder, (holder) -> holder != NOBODY && condition.test(holder));
	}

	private static Holder holder() throws Exception {
		JsonNode holder = control.get("/api/holder");
		return holder.has("pid")
				? new Holder(holder.get("pid").asLong(), Long.parseLong(holder.get("token").asString())) : NOBODY;
	}

	private static String inflict(Holder worker, String fault) throws Exception {
		return control.post(path(worker, fault)).get("state").asString();
	}

	private static String path(Holder worker, String fault) {
		return "/api/workers/" + worker.pid() + "/" + fault;
	}

	private static List<Long> processes() throws Exception {
		return control.get("/api/workers").valueStream().map((worker) -> worker.get("pid").asLong()).toList();
	}

	private static List<String> states() throws Exception {
		return control.get("/api/workers").valueStream().map((worker) -> worker.get("state").asString()).toList();
	}

	private static void assertEachSeatSoldOnce(CompletableFuture<JsonNode> sale, int refused) throws Exception {
		JsonNode result = sale.get(40, TimeUnit.SECONDS);
		assertThat(result.get("sold").asInt()).isEqualTo(SEATS);
		assertThat(result.get("oversold").asInt()).isZero();
		assertThat(result.get("refused").asInt()).isEqualTo(refused);
		assertThat(control.get("/api/status").get("on")).isEqualTo(result);
	}

	private record Holder(long pid, long token) {

	}

}
