package io.distributedlock.process;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import io.distributedlock.process.Endpoint.Database;
import io.distributedlock.process.LockProcess.Acquired;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Time that a lock takes from one JVM to the next. */
@Tag("full")
class PostgresHandOverTests {

	private static final Log logger = LogFactory.getLog(PostgresHandOverTests.class);

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration WAIT = Duration.ofSeconds(10);

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	/** Until both processes listen, and their code is compiled. */
	private static final int WARM_UP = 20;

	private static final int ROUNDS = 40;

	/** After this time a process that is notified polls only every second. */
	private static final Duration SLOW_POLLS_AFTER = Duration.ofMillis(250);

	/** Longest hand-over by notification; one found by a poll takes longer. */
	private static final Duration NOTIFIED_WITHIN = Duration.ofMillis(250);

	private final Endpoint endpoint = Endpoint.create(Database.POSTGRESQL);

	private final JdbcTemplate jdbc = this.endpoint.jdbc();

	@Test
	void releaseWakesTheOtherProcessAtOnce() {
		try (LockProcess one = process(); LockProcess other = process()) {
			handOvers(one, other, WARM_UP);
			// Polls would be slow in each series, a loaded machine is not.
			await().atMost(PATIENCE)
				.untilAsserted(() -> assertThat(medianHandOver(one, other)).isLessThan(NOTIFIED_WITHIN));
		}
	}

	private Duration medianHandOver(LockProcess one, LockProcess other) {
		List<Duration> took = handOvers(one, other, ROUNDS);
		Collections.sort(took);
		Duration median = took.get(ROUNDS / 2);
		logger.info("Hand-over between two JVMs: p50 " + micros(median) + " µs, p90 "
				+ micros(took.get(ROUNDS * 9 / 10)) + " µs, most " + micros(took.get(ROUNDS - 1)) + " µs");
		return median;
	}

	private List<Duration> handOvers(LockProcess one, LockProcess other, int rounds) {
		List<Duration> took = new ArrayList<>();
		for (int round = 0; round < rounds; round++) {
			took.add((round % 2 == 0) ? handOver(one, other) : handOver(other, one));
		}
		return took;
	}

	private LockProcess process() {
		List<String> arguments = new ArrayList<>(this.endpoint.arguments());
		arguments.addAll(this.endpoint.arguments());
		LockProcess process = LockProcess.start(LockHolderMain.class, arguments);
		assertThat(process.ask("clock")).isNotBlank();
		return process;
	}

	/** Measures from the request to release to the grant in the other process. */
	private Duration handOver(LockProcess from, LockProcess to) {
		from.acquire("seat", LEASE, WAIT, true);
		to.send(Commands.acquire("seat", LEASE, WAIT, true));
		await().pollDelay(SLOW_POLLS_AFTER)
			.pollInterval(Duration.ofMillis(5))
			.untilAsserted(() -> assertThat(waited()).as("a waiter, which said %s", to).isTrue());
		long released = System.nanoTime();
		assertThat(from.ask("release")).isEqualTo("released");
		Duration took = Duration.ofNanos(Acquired.parse(to.answer()).at() - released);
		assertThat(to.ask("release")).isEqualTo("released");
		return took;
	}

	private boolean waited() {
		Boolean waited = this.jdbc.queryForObject(
				"SELECT EXISTS (SELECT FROM distributed_lock WHERE first_waiter_until > extract(epoch FROM clock_timestamp()) * 1000000)",
				Boolean.class);
		return Boolean.TRUE.equals(waited);
	}

	private static long micros(Duration duration) {
		return duration.toNanos() / 1000;
	}

}
