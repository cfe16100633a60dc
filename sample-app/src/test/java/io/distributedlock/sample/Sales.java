package io.distributedlock.sample;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * View of a running sale and faults of its workers, for tests. Customers think long
 * enough for a signal to reach the holder in that time.
 */
class Sales {

	private static final Holder NO_HOLDER = new Holder(0, 0);

	/** How long tests repeat what depends on the moment. */
	private static final Duration PATIENCE = Duration.ofMinutes(3);

	private final ControlProcess control;

	private final int seats;

	Sales(ControlProcess control, int seats) {
		this.control = control;
		this.seats = seats;
	}

	CompletableFuture<JsonNode> begin() {
		return begin("");
	}

	private CompletableFuture<JsonNode> begin(String settings) {
		return CompletableFuture.supplyAsync(() -> {
			try {
				return this.control.post("/api/sales?lock=on&think-time=750ms" + settings);
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		});
	}

	/** Sells without the lock until one seat was sold twice. */
	JsonNode awaitOversold() {
		return Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.control.post("/api/sales?lock=off"), (sale) -> sale.get("oversold").asInt() > 0);
	}

	/** A holder whose customer has only begun to think. */
	Holder awaitNewHolder() {
		Holder first = awaitHolder((holder) -> true);
		return awaitHolder((holder) -> holder.token() > first.token());
	}

	Holder awaitHolder(Predicate<Holder> condition) {
		return Awaitility.await()
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(10))
			.atMost(Duration.ofMinutes(5))
			.until(this::holder, (holder) -> holder != NO_HOLDER && condition.test(holder));
	}

	private Holder holder() throws Exception {
		JsonNode holder = this.control.get("/api/holder");
		return holder.has("pid")
				? new Holder(holder.get("pid").asLong(), Long.parseLong(holder.get("token").asString())) : NO_HOLDER;
	}

	String inflict(Holder worker, String fault) throws Exception {
		return this.control.post(worker.path(fault)).get("state").asString();
	}

	/** Starts a worker in place of each that was killed. */
	void replaceDeadWorkers() throws Exception {
		for (JsonNode worker : this.control.get("/api/workers").valueStream().toList()) {
			if (worker.get("state").asString().equals("dead")) {
				this.control.post(new Holder(worker.get("pid").asLong(), 0).path("restart"));
			}
		}
	}

	/** The processes that live. */
	List<Long> processes() throws Exception {
		return this.control.get("/api/workers")
			.valueStream()
			.filter((worker) -> !worker.get("state").asString().equals("dead"))
			.map((worker) -> worker.get("pid").asLong())
			.toList();
	}

	List<String> states() throws Exception {
		return this.control.get("/api/workers").valueStream().map((worker) -> worker.get("state").asString()).toList();
	}

	/**
	 * Kills the holder: once its lease is over, another process has to go on with a
	 * higher token.
	 */
	void assertKilledHolderIsSucceeded(Duration lease) throws Exception {
		repeat(() -> killedHolderIsSucceeded(lease));
	}

	private boolean killedHolderIsSucceeded(Duration lease) throws Exception {
		CompletableFuture<JsonNode> sale = begin();
		Holder chosen = awaitNewHolder();
		long killedAt = System.nanoTime();
		assertThat(inflict(chosen, "kill")).isEqualTo("dead");
		Holder successor = awaitHolder((holder) -> holder.pid() != chosen.pid());
		Duration vacancy = Duration.ofNanos(System.nanoTime() - killedAt);
		assertThat(successor.token()).isGreaterThan(chosen.token());
		assertThat(vacancy).isLessThan(lease.plusSeconds(5));
		assertThat(processes()).hasSize(2).doesNotContain(chosen.pid());
		// Otherwise another one has stood still for a lease, or this one had released the
		// lock before the signal came.
		return refusedOfSeatsSoldOnce(sale) == 0 && vacancy.compareTo(lease.dividedBy(4)) > 0;
	}

	/**
	 * Freezes the holder beyond its lease: what it writes when it wakes has to be
	 * refused.
	 */
	void assertLateWriteOfAFrozenHolderIsRefused(int seconds) throws Exception {
		repeat(() -> frozenHolderWritesLate(seconds));
		assertThat(this.control.console()).contains("late writes refused: 1");
	}

	private boolean frozenHolderWritesLate(int seconds) throws Exception {
		CompletableFuture<JsonNode> sale = begin();
		Holder frozen = awaitNewHolder();
		assertThat(inflict(frozen, "freeze?seconds=" + seconds)).isEqualTo("frozen");
		assertThat(this.control.answerToPost(frozen.path("freeze?seconds=1")).statusCode()).isEqualTo(409);
		assertThat(Files.readString(Path.of("/proc", Long.toString(frozen.pid()), "stat"))).contains(") T ");
		Holder successor = awaitHolder((holder) -> holder.pid() != frozen.pid());
		assertThat(successor.token()).isGreaterThan(frozen.token());
		int refused = refusedOfSeatsSoldOnce(sale);
		assertThat(processes()).contains(frozen.pid());
		// More of them on a machine that stalls.
		return refused == 1;
	}

	/**
	 * Freezes the holder beyond its lease, of a database that knows no token: the seats
	 * of others are sold again.
	 */
	void assertLateWriteWithoutFencingOversells(int seconds) throws Exception {
		repeat(() -> {
			CompletableFuture<JsonNode> sale = begin("&fence=off");
			assertThat(inflict(awaitNewHolder(), "freeze?seconds=" + seconds)).isEqualTo("frozen");
			JsonNode result = sale.get(5, TimeUnit.MINUTES);
			assertThat(result.get("refused").asInt()).isZero();
			return result.get("oversold").asInt() > 0;
		});
	}

	/**
	 * Repeats a fault until it has hit a holder: on a slow machine the customer may have
	 * bought the seat before the signal comes.
	 */
	private static void repeat(Callable<Boolean> fault) throws Exception {
		long start = System.nanoTime();
		while (!fault.call()) {
			assertThat(Duration.ofNanos(System.nanoTime() - start)).as("until a holder was hit").isLessThan(PATIENCE);
		}
	}

	private int refusedOfSeatsSoldOnce(CompletableFuture<JsonNode> sale) throws Exception {
		JsonNode result = sale.get(5, TimeUnit.MINUTES);
		assertThat(result.get("sold").asInt()).isEqualTo(this.seats);
		assertThat(result.get("oversold").asInt()).isZero();
		assertThat(this.control.get("/api/status").get("on")).isEqualTo(result);
		return result.get("refused").asInt();
	}

	/** A process and the first fencing token of its grant. */
	record Holder(long pid, long token) {

		String path(String fault) {
			return "/api/workers/" + this.pid + "/" + fault;
		}

	}

}
