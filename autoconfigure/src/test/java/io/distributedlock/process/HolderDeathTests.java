package io.distributedlock.process;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import io.distributedlock.FencingToken;
import io.distributedlock.jdbc.WaitingTransactions;
import io.distributedlock.process.Endpoint.Database;
import io.distributedlock.process.LockProcess.Acquired;
import io.distributedlock.testkit.TimeBounds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Locks whose holder is killed, or is stopped for longer than its lease. */
class HolderDeathTests {

	private static final Log logger = LogFactory.getLog(HolderDeathTests.class);

	private static final Duration LEASE = Duration.ofSeconds(4);

	private static final Duration WAIT = Duration.ofSeconds(10);

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Duration TOLERANCE = TimeBounds.withLoad(250);

	private final List<AutoCloseable> resources = new ArrayList<>();

	@AfterEach
	void close() throws Exception {
		for (AutoCloseable resource : this.resources) {
			resource.close();
		}
	}

	private LockProcess process(Endpoint locks, Endpoint resource, String... options) {
		List<String> arguments = new ArrayList<>(locks.arguments());
		arguments.addAll(resource.arguments());
		arguments.addAll(List.of(options));
		LockProcess process = LockProcess.start(LockHolderMain.class, arguments);
		this.resources.add(process);
		return process;
	}

	@ParameterizedTest
	@CsvSource({ "H2, false", "POSTGRESQL, true" })
	void killedHolderIsFollowedWithinItsRemainingLease(Database database, boolean renewed) {
		awaitInTime(() -> isFollowedInTime(database, renewed));
	}

	/** A machine that stalls is late, but not in each round. */
	private static void awaitInTime(Callable<Boolean> round) {
		await().pollDelay(Duration.ZERO).atMost(Duration.ofSeconds(100)).until(round);
	}

	private boolean isFollowedInTime(Database database, boolean renewed) {
		Endpoint endpoint = Endpoint.create(database);
		LockRows rows = new LockRows(endpoint);
		LockProcess holder = process(endpoint, endpoint);
		LockProcess waiter = process(endpoint, endpoint);
		assertThat(waiter.ask("clock")).isNotBlank();
		Acquired first = holder.acquire("seat", LEASE, Duration.ZERO, true);
		waiter.send(Commands.acquire("seat", LEASE, WAIT, true));
		await().atMost(PATIENCE).until(rows::waited);
		if (renewed) {
			Object granted = rows.all().get(0).get("expires_at");
			await().until(() -> !granted.equals(rows.all().get(0).get("expires_at")));
		}
		Object owner = rows.all().get(0).get("owner");
		holder.kill();
		long killed = System.nanoTime();
		Duration remaining = rows.remaining();
		boolean held = owner.equals(rows.all().get(0).get("owner"));
		Acquired second = Acquired.parse(waiter.answer());
		Duration took = Duration.ofNanos(second.at() - killed);
		logger.info(database + ": killed with " + remaining.toMillis() + " ms of lease left, followed after "
				+ took.toMillis() + " ms");
		// By the store's clock, which no stall of this machine changes.
		long between = new FencingToken(second.token()).order() - new FencingToken(first.token()).order();
		assertThat(Duration.of(between, ChronoUnit.MICROS)).isGreaterThanOrEqualTo(LEASE.minusMillis(20));
		if (!held || took.isNegative()) {
			// The lease has ended before it was looked at.
			return false;
		}
		assertThat(took).isGreaterThanOrEqualTo(remaining.minusMillis(20));
		return took.compareTo(remaining.plus(TOLERANCE)) <= 0;
	}

	@Test
	@Tag("full")
	void rowLockOfAKilledProcessIsFreeWithinASecond() {
		awaitInTime(() -> isFreeWithinASecond(Endpoint.create(Database.POSTGRESQL),
				"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
						+ " AND wait_event_type = 'Lock'"));
	}

	@Test
	@Tag("matrix")
	void rowLockOfAKilledProcessIsFreeWithinASecondInMariaDb() {
		awaitInTime(() -> isFreeWithinASecond(Endpoint.mariaDb(),
				"SELECT count(*) FROM information_schema.innodb_trx t JOIN information_schema.processlist p"
						+ " ON p.id = t.trx_mysql_thread_id WHERE p.db = DATABASE() AND t.trx_state = 'LOCK WAIT'"));
	}

	/**
	 * Kills the holder of a row lock.
	 * @param waiters counts the sessions that wait for a row
	 */
	private boolean isFreeWithinASecond(Endpoint endpoint, String waiters) {
		LockProcess holder = process(endpoint, endpoint, LockHolderMain.ROW_LOCKS);
		LockProcess waiter = process(endpoint, endpoint, LockHolderMain.ROW_LOCKS);
		assertThat(waiter.ask("clock")).isNotBlank();
		Duration lease = Duration.ofMinutes(5);
		Acquired first = holder.acquire("seat", lease, Duration.ZERO, true);
		waiter.send(Commands.acquire("seat", lease, PATIENCE, true));
		await().pollInterval(WaitingTransactions.POLL_INTERVAL)
			.atMost(PATIENCE)
			.until(() -> endpoint.jdbc().queryForObject(waiters, Long.class), (waiting) -> waiting == 1);
		holder.kill();
		long killed = System.nanoTime();
		Acquired second = Acquired.parse(waiter.answer());
		Duration took = Duration.ofNanos(second.at() - killed);
		logger.info("Row lock of a killed process: followed after " + took.toMillis() + " ms");
		assertThat(took).isPositive();
		assertThat(second.token()).isGreaterThan(first.token());
		assertThat(waiter.ask("release")).isEqualTo("released");
		return took.compareTo(TimeBounds.withLoad(Duration.ofSeconds(1))) < 0;
	}

	@ParameterizedTest
	@Tag("full")
	@EnumSource(Database.class)
	void killedHoldersLockIsKeptForItsShortestHold(Database database) {
		Endpoint endpoint = Endpoint.create(database);
		LockProcess holder = process(endpoint, endpoint);
		LockProcess waiter = process(endpoint, endpoint);
		Duration lease = Duration.ofSeconds(2);
		Duration minHold = Duration.ofSeconds(3);
		Acquired first = Acquired.parse(holder.ask(Commands.acquireForAtLeast(minHold, "job", lease, Duration.ZERO)));
		holder.kill();
		Acquired second = Acquired.parse(waiter.ask(Commands.acquireForAtLeast(minHold, "job", lease, WAIT)));
		// The orders are microseconds of the store's clock.
		long between = new FencingToken(second.token()).order() - new FencingToken(first.token()).order();
		assertThat(Duration.of(between, ChronoUnit.MICROS)).isGreaterThanOrEqualTo(minHold);
	}

	@ParameterizedTest
	@Tag("full")
	@EnumSource(Database.class)
	void stoppedHolderFindsItsLossOfflineAndChangesNothing(Database database) {
		Endpoint endpoint = Endpoint.create(database);
		LockRows rows = new LockRows(endpoint);
		Wire wire = new Wire(endpoint.port());
		this.resources.add(wire);
		LockProcess holder = process(endpoint.through(wire), endpoint);
		LockProcess other = process(endpoint, endpoint);
		Acquired first = holder.acquire("seat", LEASE, Duration.ZERO, true);
		assertThat(holder.ask("write first")).isEqualTo("changed 1");
		holder.stop();
		long stopped = System.nanoTime();
		Acquired second = other.acquire("seat", Duration.ofMinutes(5), WAIT, false);
		assertThat(second.token()).isGreaterThan(first.token());
		assertThat(Duration.ofNanos(second.at() - stopped)).isLessThan(LEASE.plus(TOLERANCE));
		assertThat(other.ask("write second")).isEqualTo("changed 1");
		await().until(() -> System.nanoTime() - stopped > LEASE.toNanos() * 3 / 2);
		List<Map<String, Object>> held = rows.all();
		wire.cut();
		holder.resume();
		assertThat(holder.ask("held")).isEqualTo("false");
		assertThat(holder.ask("release")).isEqualTo("released");
		assertThat(holder.ask("write late")).isEqualTo("changed 0");
		wire.mend();
		await().during(Duration.ofSeconds(1)).atMost(WAIT).untilAsserted(() -> assertThat(rows.all()).isEqualTo(held));
		assertThat(firstAnswer(holder, "acquire seat 2000 0 true")).isEqualTo("busy");
		assertThat(rows.resource()).isEqualTo("second");
		assertThat(other.ask("held")).isEqualTo("true");
		assertThat(other.ask("release")).isEqualTo("released");
		// A release without a reply on a slow machine is repeated later.
		await().untilAsserted(() -> assertThat(rows.held()).isZero());
	}

	/**
	 * Asks until the process has a connection again: its pool pauses between attempts.
	 */
	private static String firstAnswer(LockProcess process, String question) {
		return await().atMost(PATIENCE).until(() -> process.ask(question), (answer) -> !answer.startsWith("failed"));
	}

}
